#include "stoker/io/remote/request_pool.h"

#include <utility>

#include "stoker/io/remote/http_client.h"

namespace stoker {

RequestPool& RequestPool::Shared() {
  PrepareHttp();  // so that what the threads use ends after them
  static RequestPool pool;
  return pool;
}

RequestPool::~RequestPool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    jobs_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void RequestPool::Run(std::function<void()> job, int64_t threads) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(job));
  if (jobs_.size() > idle_ && static_cast<int64_t>(threads_.size()) < threads)
    threads_.emplace_back([this] { Work(); });
  changed_.notify_one();
}

void RequestPool::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
    --idle_;
    if (ending_) return;
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

}  // namespace stoker
