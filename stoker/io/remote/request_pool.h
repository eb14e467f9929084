// The threads that read ahead from servers: as many requests are under way at a time, over all
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

// Thread-safe. The threads begin when they are needed first and last as long as the process.
class RequestPool {
 public:
  static RequestPool& Shared();

  // Runs `job` on one of at most `threads` threads, the ones that came first first. Where no more
  // threads can be started those that are there do the work; without any the error is
  // kResourceExhausted, and `job` is not run.
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
