#include "python/module/worker_pool.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "stoker/base/stop_scope.h"

namespace stoker::python {

WorkerPool::Lease::Lease(WorkerPool* pool, std::unique_ptr<WorkerChannel> channel)
    : pool_(pool), channel_(std::move(channel)) {}

WorkerPool::Lease::~Lease() {
  if (!channel_) return;
  const MutexLock lock(pool_->mutex_);
  if (channel_->broken()) {
    --pool_->size_;
  } else {
    pool_->idle_.push_back(std::move(channel_));
  }
  pool_->changed_.NotifyAll();
}

void WorkerPool::Add(std::unique_ptr<WorkerChannel> channel) {
  const MutexLock lock(mutex_);
  idle_.push_back(std::move(channel));
  ++size_;
  had_some_ = true;
  changed_.NotifyAll();
}

Result<WorkerPool::Lease> WorkerPool::Take() {
  const MutexLock lock(mutex_);
  const auto ready = [this]() STOKER_REQUIRES(mutex_) { return !idle_.empty() || size_ == 0; };
  if (!WaitUnlessStopped(changed_, mutex_, ready))
    return Cancelled("a function of Python: asked to stop");
  if (idle_.empty() && !had_some_) {
    return Unimplemented(
        "functions of Python cannot be called before a pass is open, and a stage reads its input "
        "while the pipeline is put together, such as unique, or split by a field; put the function "
        "after that stage");
  }
  if (idle_.empty()) {
    return FailedPrecondition(
        "the worker processes that call the functions of the pipeline have ended; iterate over "
        "the loader again, which starts new ones");
  }
  // The one used last, whose memory is in the caches; not one that a pass before left at work, if
  // there is another.
  auto taken = std::prev(idle_.end());
  while (taken != idle_.begin() && (*taken)->busy()) --taken;
  if ((*taken)->busy()) taken = std::prev(idle_.end());
  std::unique_ptr<WorkerChannel> channel = std::move(*taken);
  idle_.erase(taken);
  return Lease(this, std::move(channel));
}

void WorkerPool::Shrink(size_t most) {
  const MutexLock lock(mutex_);
  while (size_ > most && !idle_.empty()) {
    idle_.erase(idle_.begin());
    --size_;
  }
}

size_t WorkerPool::size() const {
  const MutexLock lock(mutex_);
  return size_;
}

size_t WorkerPool::num_ready() const {
  const MutexLock lock(mutex_);
  return size_ - static_cast<size_t>(
                     std::ranges::count_if(idle_, [](const auto& idle) { return idle->busy(); }));
}

}  // namespace stoker::python
