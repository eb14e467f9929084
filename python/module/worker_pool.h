// The worker processes of one pipeline, lent to the threads that call functions.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "python/module/worker_channel.h"
#include "stoker/base/mutex.h"
#include "stoker/base/status.h"

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
  // Without those that still work on what a pass before has asked for.
  size_t num_ready() const;

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  std::vector<std::unique_ptr<WorkerChannel>> idle_ STOKER_GUARDED_BY(mutex_);
  size_t size_ STOKER_GUARDED_BY(mutex_) = 0;
  bool had_some_ STOKER_GUARDED_BY(mutex_) = false;
};

}  // namespace stoker::python
