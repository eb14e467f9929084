// Doorbell: how one consumer waits for several producers at once, for whichever has something
// first.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "stoker/base/stop_scope.h"

namespace stoker {

// The consumer notes rings(), looks at each producer, and where none has anything waits until it
// has been rung since: so a ring between the look and the wait is not lost. Thread-safe.
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

  // Waits until it has been rung more than `rings` times. Returns false if this thread was asked
  // to stop before (base/stop_scope.h).
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
