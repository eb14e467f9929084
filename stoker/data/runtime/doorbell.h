// Doorbell: lets one consumer wait for the first of several producers that has an element.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "stoker/base/stop_scope.h"

namespace stoker {

// The consumer reads rings(), checks each producer and, if none has an element, waits for more
// rings, so a ring between the check and the wait is not lost. Thread-safe.
class Doorbell {
 public:
  void Ring() {
    {
      std::lock_guard lock(mutex_);
      ++rings_;
    }
    rung_.notify_all();
  }

  int64_t rings() const {
    std::lock_guard lock(mutex_);
    return rings_;
  }

  // Waits until it has been rung more than `rings` times. Returns false if this thread was asked to
  // stop first (base/stop_scope.h).
  bool WaitBeyond(int64_t rings) {
    std::unique_lock lock(mutex_);
    return WaitUnlessStopped(rung_, lock, [&] { return rings_ > rings; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable rung_;
  int64_t rings_ = 0;
};

}  // namespace stoker
