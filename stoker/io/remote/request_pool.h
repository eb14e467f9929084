// The threads that read ahead from servers. Their number limits the concurrent requests over all
// files of the process.
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "stoker/base/mutex.h"
#include "stoker/base/status.h"

namespace stoker {

// Thread-safe. Threads start when first needed and last as long as the process. A child of fork()
// has a pool of its own.
class RequestPool {
 public:
  RequestPool() = default;
  RequestPool(const RequestPool&) = delete;
  RequestPool& operator=(const RequestPool&) = delete;

  static RequestPool& Shared();

  // Runs `job` on one of at most `threads` threads, in order of arrival. If no more threads can be
  // started the existing ones do the work; without any the error is kResourceExhausted, and `job`
  // is not run. `job` must not throw (base/thrown_error.h).
  Status Run(std::function<void()> job, int64_t threads);

 private:
  struct EndAtExit;
  void End();
  Status StartThread() STOKER_REQUIRES(mutex_);
  void Work();

  Mutex mutex_;
  CondVar changed_;
  std::deque<std::function<void()>> jobs_ STOKER_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ STOKER_GUARDED_BY(mutex_);
  size_t idle_ STOKER_GUARDED_BY(mutex_) = 0;
  bool ending_ STOKER_GUARDED_BY(mutex_) = false;
};

}  // namespace stoker
