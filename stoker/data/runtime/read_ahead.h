// ReadAhead: the one place where the threaded runtime has threads. Workers make chunks of elements
// ahead of the consumer, as many as the depth and the memory budget allow; the consumer gets them
// in order.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "stoker/base/worker_group.h"
#include "stoker/data/runtime/chunk_source.h"

namespace stoker {

// Life of a chunk: a worker takes ticket t (in order, when t is less than `depth` ahead of the
// consumer and the ledger admits it), finishes the chunk beside the other workers, and puts it into
// slot t mod depth. The consumer takes the slots in the order of their tickets. The chunk that the
// consumer waits for is exempt from the budget, so it always comes.
//
// A chunk is admitted with all that buffers are asked for while it is made. Afterwards its buffers
// are charged themselves; only for those that are not (arrays that user code allocated) the
// admission stays until the consumer takes the chunk.
class ReadAhead final : public Iterator {
 public:
  // `inside` is the flag that the source's own iterators look at; it is raised on destruction.
  ReadAhead(const OpenContext& context, const DatasetNode& node,
            std::unique_ptr<ChunkSource> source, std::shared_ptr<StopFlag> inside, int threads);
  ~ReadAhead() override;

  // Starts the threads now rather than with the first Next. After Restore, if that is called.
  Status StartAhead();

 private:
  Result<std::optional<Element>> DoNext() override;
  Result<Json> DoSave() const override;
  Status DoRestore(const Json& state) override;

  void Work();
  // Takes the next ticket and its chunk; nothing where there are no more or it is time to stop.
  struct Ticket {
    int64_t number;
    Chunk chunk;
    Ledger::Admission memory;  // held until the chunk's own buffers are all charged
    int64_t asked_before;      // by this thread, when it took the ticket
  };
  std::optional<Ticket> TakeTicket();
  std::unique_lock<std::mutex> WaitForTurn();
  bool WaitForRoom(int64_t ticket);
  Ledger::Admission WaitForMemory(int64_t ticket);
  void Publish(Ticket ticket);
  // How long those whose turn it was have been blocked so far, up to `now`.
  int64_t TurnsBlockedNs(int64_t now) const;
  // Runs `wait` and counts its time as blocked, for whose turn it is and for those behind.
  template <typename Wait>
  auto Blocked(const Wait& wait);
  // The consumer's side: the chunk after the current one, waiting for it if need be. Errors: those
  // of starting the threads.
  Status NextChunk();

  const std::shared_ptr<StopFlag> inside_;
  const std::unique_ptr<ChunkSource> source_;
  const int64_t known_chunk_bytes_;              // 0: the Specs do not tell
  std::atomic<int64_t> largest_chunk_bytes_{0};  // the most that one has asked for so far
  std::atomic<bool> any_published_{false};       // of the chunks: whether one has been finished

  // Held while a ticket is taken, so that the in-order part of the source is never entered twice.
  std::mutex take_mutex_;
  int64_t next_ticket_ = 0;  // guarded by take_mutex_
  // Guarded by take_mutex_: a chunk that was last or failed has been taken.
  bool exhausted_ = false;
  // Written by whose turn it is: the time blocked so far, and since when it is now (0: it is not).
  std::atomic<int64_t> turns_blocked_ns_{0}, turn_blocked_since_ns_{0};

  std::mutex mutex_;  // guards slots_ and ready_, and the two conditions
  std::condition_variable room_, chunk_ready_;
  std::vector<std::optional<Chunk>> slots_;
  int64_t ready_ = 0;
  std::atomic<int64_t> head_{0};  // the ticket that the consumer takes next
  std::atomic<bool> stopping_{false};

  // Written by the consumer alone.
  Chunk current_;
  size_t used_of_current_ = 0;
  std::atomic<int64_t> delivered_{0};

  const int threads_;
  bool started_ = false;
  WorkerGroup workers_;
};

// Has an iterator that reads ahead begin with it, before its first Next and after Restore: for
// several inputs that are to be ready at once. Others are left as they are. Errors: the system
// gives no thread.
Status StartAhead(Iterator& iterator);

}  // namespace stoker
