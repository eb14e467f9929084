// StopTimer: a flag that stops work after a time, or when a signal was noted.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "stoker/base/mutex.h"
#include "stoker/base/status.h"
#include "stoker/base/worker_group.h"

namespace stoker {

// The flag is for everything that takes a `stop`. Checked some fifty times a second by a thread of
// its own. The timer is used by one thread at a time; the flag is thread-safe.
class StopTimer {
 public:
  // Errors: those of WorkerGroup::Start.
  Status Start();
  ~StopTimer();
  StopTimer() = default;
  StopTimer(const StopTimer&) = delete;
  StopTimer& operator=(const StopTimer&) = delete;

  // Lowers the flag, unless a signal was noted, and raises it `seconds` from now.
  void Set(double seconds);

  const std::atomic<bool>* flag() const { return &stop_; }

 private:
  void Run();

  std::atomic<bool> stop_{false}, ending_{false};
  Mutex mutex_;
  int64_t deadline_ns_ STOKER_GUARDED_BY(mutex_) = std::numeric_limits<int64_t>::max();
  WorkerGroup thread_;
};

}  // namespace stoker
