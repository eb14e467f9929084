// Cancellation: ends a request, or the wait between two, at once from another thread.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <utility>

#include "stoker/base/mutex.h"

namespace stoker {

// The longest that a wait lasts before it looks again whether it is to end.
inline constexpr std::chrono::milliseconds kLongestPatience{1000};

// Thread-safe.
class Cancellation {
 public:
  Cancellation() = default;
  // Also cancelled once `asked`, which may be empty, returns true; the waiting thread calls it
  // about ten times a second.
  explicit Cancellation(std::function<bool()> asked) : asked_(std::move(asked)) {}
  Cancellation(const Cancellation&) = delete;
  Cancellation& operator=(const Cancellation&) = delete;

  void Cancel();
  bool cancelled() const {
    return cancelled_.load(std::memory_order_acquire) || (asked_ && asked_());
  }
  // Sleeps. Returns true if it was cancelled meanwhile, or before.
  bool WaitFor(double seconds);
  // Returns how long a wait may last before cancelled() must be checked again.
  std::chrono::milliseconds Patience() const;

 private:
  friend class WakeScope;
  const std::function<bool()> asked_;
  Mutex mutex_;
  CondVar changed_;
  std::atomic<bool> cancelled_{false};
  std::function<void()> wake_ STOKER_GUARDED_BY(mutex_);  // of the scope that is open
};

// While it lives, Cancel calls `wake`, which is to end the wait of this thread. One at a time.
class WakeScope {
 public:
  // `cancel` may be null. `wake` must be callable from any thread, and must not block.
  WakeScope(Cancellation* cancel, std::function<void()> wake);
  WakeScope(const WakeScope&) = delete;
  WakeScope& operator=(const WakeScope&) = delete;
  ~WakeScope();

 private:
  Cancellation* const cancel_;
};

}  // namespace stoker
