#include "stoker/io/remote/request_pool.h"

#include <exception>
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

Status RequestPool::Run(std::function<void()> job, int64_t threads) {
  const std::lock_guard lock(mutex_);
  if (jobs_.size() >= idle_ && static_cast<int64_t>(threads_.size()) < threads) {
    const Status status = StartThread();
    if (threads_.empty()) return status;
  }
  jobs_.push_back(std::move(job));
  changed_.notify_one();
  return OkStatus();
}

Status RequestPool::StartThread() {
  try {
    threads_.emplace_back([this] { Work(); });
    return OkStatus();
  } catch (const std::exception& error) {  // std::system_error, or no memory
    return ResourceExhausted(
        "a thread that reads from servers cannot be started: {}; raise the limit on threads "
        "(ulimit -u, the container's limit of processes), or end other programs",
        error.what());
  }
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
