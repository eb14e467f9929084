#include "stoker/io/remote/cancellation.h"

#include <algorithm>

#include "stoker/base/stop_scope.h"

namespace stoker {

void Cancellation::Cancel() {
  const MutexLock lock(mutex_);
  cancelled_.store(true, std::memory_order_release);
  if (wake_) wake_();
  changed_.NotifyAll();
}

bool Cancellation::WaitFor(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
  const MutexLock lock(mutex_);
  while (!cancelled()) {
    const auto now = Clock::now();
    if (now >= end) return false;
    changed_.WaitUntil(mutex_, std::min(end, now + Patience()));
  }
  return true;
}

std::chrono::milliseconds Cancellation::Patience() const {
  return asked_ ? kAskStopEvery : kLongestPatience;
}

WakeScope::WakeScope(Cancellation* cancel, std::function<void()> wake) : cancel_(cancel) {
  if (cancel_ == nullptr) return;
  const MutexLock lock(cancel_->mutex_);
  cancel_->wake_ = std::move(wake);
}

WakeScope::~WakeScope() {
  if (cancel_ == nullptr) return;
  const MutexLock lock(cancel_->mutex_);
  cancel_->wake_ = nullptr;
}

}  // namespace stoker
