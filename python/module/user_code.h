// The functions of Python that one pipeline calls, and the processes that call them.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "python/module/worker_channel.h"
#include "stoker/base/mutex.h"
#include "stoker/data/core/element.h"
#include "stoker/data/core/transform.h"

namespace stoker::python {

// Worker processes that are lent to one thread at a time. Thread-safe.
class WorkerPool {
 public:
  // Gives the worker back when it goes; one that has ended is dropped.
  class Lease {
   public:
    Lease(WorkerPool* pool, std::unique_ptr<WorkerChannel> channel);
    Lease(Lease&&) = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    WorkerChannel& operator*() const { return *channel_; }
    WorkerChannel* operator->() const { return channel_.get(); }

   private:
    WorkerPool* pool_;
    std::unique_ptr<WorkerChannel> channel_;
  };

  void Add(std::unique_ptr<WorkerChannel> channel);
  // Waits until a worker is idle. Errors: kCancelled; kFailedPrecondition if there is none at all.
  Result<Lease> Take();
  // Ends idle workers until there are at most so many.
  void Shrink(size_t most);
  size_t size() const;

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  std::vector<std::unique_ptr<WorkerChannel>> idle_ STOKER_GUARDED_BY(mutex_);
  size_t size_ STOKER_GUARDED_BY(mutex_) = 0;
  bool had_some_ STOKER_GUARDED_BY(mutex_) = false;
};

// Owned by a pipeline and by those of its stages that call functions. While such a stage is built
// (Building), its function is added and called in this process; later it is called by workers,
// except where a pass works on the thread of its caller (CallsHere).
class UserCode : public std::enable_shared_from_this<UserCode> {
 public:
  UserCode() = default;
  ~UserCode();
  UserCode(const UserCode&) = delete;
  UserCode& operator=(const UserCode&) = delete;

  // While one lives, stages that this thread builds add their functions to `code`.
  class Building {
   public:
    explicit Building(UserCode& code);
    ~Building();
    Building(const Building&) = delete;
    Building& operator=(const Building&) = delete;

   private:
    UserCode* const before_;  // a function that is tried may build a pipeline itself
  };
  // The code of the pipeline that this thread builds. Errors: none is built: pipelines that are
  // opened while a pass runs, on threads that may not call Python.
  static Result<std::shared_ptr<UserCode>> OfThisThread();

  // While one lives, this thread, which a caller from Python waits for, calls functions itself.
  class CallsHere {
   public:
    explicit CallsHere(bool here);
    ~CallsHere();
    CallsHere(const CallsHere&) = delete;
    CallsHere& operator=(const CallsHere&) = delete;

   private:
    const bool before_;
  };
  static bool calls_here();

  // Adds an object of stoker.functions.bound, with the GIL. Returns its number.
  uint32_t Add(nanobind::object bound);
  // Of all, in order; with the GIL.
  const std::vector<nanobind::object>& functions() const { return functions_; }

  // Lets go of them, with the GIL: nobody can call them any more.
  void Forget() { functions_.clear(); }

  WorkerPool& mappers() { return mappers_; }
  WorkerPool& generators() { return generators_; }

  // While one lives, a pass is open, which takes a worker for each generator sooner or later.
  class OpenPass {
   public:
    explicit OpenPass(std::shared_ptr<UserCode> code) : code_(std::move(code)) {
      ++code_->open_passes_;
    }
    ~OpenPass() { --code_->open_passes_; }
    OpenPass(const OpenPass&) = delete;
    OpenPass& operator=(const OpenPass&) = delete;

   private:
    const std::shared_ptr<UserCode> code_;
  };
  int open_passes() const { return open_passes_; }

 private:
  std::atomic<int> open_passes_{0};
  std::vector<nanobind::object> functions_;
  WorkerPool mappers_, generators_;
};

// Calls a method of a bound function in this process. Takes the GIL for as long.
//   call  gets the object, and returns what `result` then reads
// Errors: kOutOfRange where the function raised an exception, kInvalidArgument where its result is
// wrong; kCancelled for KeyboardInterrupt and SystemExit, which stay this thread's exception.
Status CallHere(const std::function<void()>& call);

// The error of an outcome; success for kDone and kEnded.
Status StatusOf(WorkerAnswer::Outcome outcome, const std::string& text);

// The arrays as a list of objects that a function may keep and write to. With the GIL.
nanobind::list ArgumentsOf(std::span<const Array> arrays);

// Arrays of what a bound function returns: a list of (dtype, shape, bytes). With the GIL.
std::vector<WorkerArray> ResultsOf(nanobind::handle results);

// Copies into memory of the stage.
Array CopiedTo(const WorkerArray& array, Scratch& scratch);

}  // namespace stoker::python
