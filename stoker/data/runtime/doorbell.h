// Doorbell: lets one consumer wait for the first of several producers that has an element.
#pragma once

#include <cstdint>

#include "stoker/base/mutex.h"
#include "stoker/base/stop_scope.h"

namespace stoker {

// The consumer reads rings(), checks each producer and, if none has an element, waits for more
// rings, so a ring between the check and the wait is not lost. Thread-safe.
class Doorbell {
 public:
  void Ring() {
    {
      const MutexLock lock(mutex_);
      ++rings_;
    }
    rung_.NotifyAll();
  }

  int64_t rings() const {
    const MutexLock lock(mutex_);
    return rings_;
  }

  // Waits until it has been rung more than `rings` times. Returns false if this thread was asked to
  // stop first (base/stop_scope.h).
  bool WaitBeyond(int64_t rings) {
    const MutexLock lock(mutex_);
    return WaitUnlessStopped(rung_, mutex_,
                             [&]() STOKER_REQUIRES(mutex_) { return rings_ > rings; });
  }

 private:
  mutable Mutex mutex_;
  CondVar rung_;
  int64_t rings_ STOKER_GUARDED_BY(mutex_) = 0;
};

}  // namespace stoker
