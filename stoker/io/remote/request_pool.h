// The threads that read ahead from servers. Their number limits the concurrent requests over all
// files of the process.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

// Thread-safe. Threads start when first needed and last as long as the process.
class RequestPool {
 public:
  static RequestPool& Shared();

  // Runs `job` on one of at most `threads` threads, in order of arrival. If no more threads can be
  // started the existing ones do the work; without any the error is kResourceExhausted, and `job`
  // is not run.
  Status Run(std::function<void()> job, int64_t threads);

 private:
  RequestPool() = default;
  ~RequestPool();
  Status StartThread();
  void Work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0;
  bool ending_ = false;
};

}  // namespace stoker
