#include "stoker/io/remote/request_pool.h"

#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "stoker/base/per_process.h"
#include "stoker/io/remote/http_client.h"

namespace stoker {

// The threads end before what they use does.
struct RequestPool::EndAtExit {
  PerProcess<RequestPool> pools;
  ~EndAtExit() {
    if (RequestPool* const pool = pools.Find()) pool->End();
  }
};

RequestPool& RequestPool::Shared() {
  PrepareHttp();  // so that what the threads use ends after them
  static EndAtExit shared;
  return shared.pools.Get();
}

void RequestPool::End() {
  std::vector<std::thread> threads;
  {
    const MutexLock lock(mutex_);
    ending_ = true;
    jobs_.clear();
    threads.swap(threads_);
  }
  changed_.NotifyAll();
  for (std::thread& thread : threads) thread.join();
}

Status RequestPool::Run(std::function<void()> job, int64_t threads) {
  const MutexLock lock(mutex_);
  if (jobs_.size() >= idle_ && static_cast<int64_t>(threads_.size()) < threads) {
    const Status status = StartThread();
    if (threads_.empty()) return status;
  }
  jobs_.push_back(std::move(job));
  changed_.NotifyOne();
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
  const MutexLock lock(mutex_);
  while (true) {
    ++idle_;
    while (!ending_ && jobs_.empty()) changed_.Wait(mutex_);
    --idle_;
    if (ending_) return;
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    const MutexUnlock meanwhile(mutex_);
    job();
  }
}

}  // namespace stoker
