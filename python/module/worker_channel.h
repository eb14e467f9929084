// One process that calls functions of Python for the engine: the messages to and from it, and the
// memory that the arrays travel in.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/status.h"

namespace stoker::python {

// A file in memory that two processes map. What one of them has written is there for the other when
// a message says so.
class SharedMemory {
 public:
  SharedMemory() = default;
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // Takes the file over, in place of the one before.
  void Reset(int descriptor);
  // Makes the file at least so large, with memory behind all of it, and maps it. Errors:
  // kResourceExhausted.
  Status Grow(size_t bytes);
  // Maps what the other process has made `bytes` large.
  Status Map(size_t bytes);
  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  void Unmap();
  int descriptor_ = -1;
  std::byte* data_ = nullptr;
  size_t size_ = 0;  // mapped
};

// What a worker is asked to do. The values stand in python/stoker/functions/wire.py too.
enum class WorkerTask : uint32_t {
  kMap = 1,       // call function `function` for one element, or for each of `rows`
  kBegin = 2,     // begin the generator `function` of epoch `rows`; ends the one before
  kContinue = 3,  // give its next elements, as many as are soon ready
  kEnd = 4,       // end it; there is no answer
  kQuit = 5,      // exit; there is no answer
};

struct WorkerRequest {
  WorkerTask task = WorkerTask::kMap;
  uint32_t function = 0;  // its number in the pipeline
  int64_t rows = -1;      // of kMap: -1: one element, whose arrays have no dimension of rows
  std::span<const Array> arrays;    // of kMap
  std::span<const uint64_t> seeds;  // of kMap: for each row; empty: the function draws nothing
};

// An array in the worker's memory; valid until the next request.
struct WorkerArray {
  DType dtype;
  Shape shape;
  const std::byte* data;
};

struct WorkerAnswer {
  enum class Outcome : uint32_t {
    kDone = 0,
    kRaised = 1,   // the function raised an exception
    kWrong = 2,    // its result is not what the pipeline expects
    kTrouble = 3,  // no memory
    kEnded = 4,    // a generator has no further element
    kAway = 5,     // a server or disk does not answer
    kDenied = 6,   // no permission
  };
  Outcome outcome = Outcome::kDone;
  int64_t row = -1;  // at which it failed
  std::string text;  // of an outcome other than kDone and kEnded
  // Of each element its fields; of rows one entry, whose arrays begin with the dimension of rows. A
  // generator may have given some before it failed or ended.
  std::vector<std::vector<WorkerArray>> elements;
};

// For one thread at a time. Waits end with kCancelled when the thread is asked to stop (StopScope);
// the answer that was not awaited is dropped before the next request.
class WorkerChannel {
 public:
  // Takes `socket` over. `process` is the worker's id, which must not have been waited for.
  WorkerChannel(int socket, int process);
  ~WorkerChannel();
  WorkerChannel(const WorkerChannel&) = delete;
  WorkerChannel& operator=(const WorkerChannel&) = delete;

  // Errors: kUnavailable if the process has ended, with what is known about why, or sends what
  // makes no sense; kResourceExhausted if its memory cannot be opened; then `broken`, and each call
  // is the same error. Others are those of memory.
  Status Send(const WorkerRequest& request);
  Result<WorkerAnswer> Receive();
  bool broken() const { return !broken_.ok(); }
  // Whether it still works on a request whose answer nobody awaited.
  bool busy() const;

 private:
  Status WaitForMessage();
  // Reads one datagram, and takes over the files that come with it.
  Status ReadMessage();
  void TakeFiles(msghdr& message);
  Status Greet();
  Status PutArrays(const WorkerRequest& request, std::string& message);
  Result<WorkerAnswer> ParseAnswer();
  Result<WorkerAnswer> Garbled();
  Status Ended();
  Status Break(Status why);

  const int owner_;  // the process that made it: a child that fork() made ends no workers
  const int socket_;
  const int process_;
  const int
      process_descriptor_;  // readable once the process has ended; -1 where the system has none
  bool greeted_ = false;
  bool awaited_ = false;  // an answer is under way
  bool maps_ = false;     // it is that of kMap
  Status broken_;         // why it can no longer be used
  uint32_t number_ = 0;   // of the last request that is answered; its answer has it too
  SharedMemory request_, answer_;
  std::string message_;
};

}  // namespace stoker::python
