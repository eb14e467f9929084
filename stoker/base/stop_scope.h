// StopScope: how a pass that is asked to stop reaches a thread that waits deep inside a read, whose
// functions know of files and bytes and of no pass.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

namespace stoker {

// While one lives, whatever its thread waits for in Stoker's own code ends with kCancelled once
// `stop` returns true: requests, the waits between two tries, locks, pipes, other threads' work,
// and the next read of a ByteSource. `stop` is called about ten times a second, on this thread, and
// must not block. Of several that are nested, each can end the wait. Destroyed by the thread that
// made it, innermost first.
class StopScope {
 public:
  explicit StopScope(std::function<bool()> stop);
  // For work that this thread does on behalf of another one: `of_another`, which was Innermost()
  // there and may be null, and those around it count here too. They must outlive this.
  explicit StopScope(const StopScope* of_another);
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;
  ~StopScope();

  // Of this thread; null where there is none.
  static const StopScope* Innermost();
  // Whether a scope of this thread says that its waits are to end.
  static bool Asked();

 private:
  static bool IsAskedIn(const StopScope* innermost);

  const std::function<bool()> stop_;  // empty where the scopes are those of another thread
  const StopScope* const of_another_ = nullptr;
  const StopScope* const around_;
};

// How long a wait may go on before StopScope::Asked() is called again.
inline constexpr std::chrono::milliseconds kAskStopEvery{100};

// Waits on `changed`, with `lock` held, until `done()` is true. Returns whether it is: false where
// this thread was asked to stop before.
template <typename Done>
bool WaitUnlessStopped(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
                       const Done& done) {
  while (!changed.wait_for(lock, kAskStopEvery, done)) {
    if (StopScope::Asked()) return false;
  }
  return true;
}

// Locks `lock`, whose mutex another thread may hold for long, say over a request. Returns false,
// with it unlocked, where this thread was asked to stop before.
bool LockUnlessStopped(std::unique_lock<std::mutex>& lock);

// Sleeps so long. Returns false where this thread was asked to stop before.
bool SleepUnlessStopped(double seconds);

// flock(2), which another process may hold for ever, also where signals come meanwhile. Returns 0
// or an errno; ECANCELED where this thread was asked to stop before.
int FlockUnlessStopped(int fd, int operation);

// Waits until a read of the pipe, socket or terminal `fd` would not wait. Returns 0 or an errno;
// ECANCELED where this thread was asked to stop before.
int PollUnlessStopped(int fd);

}  // namespace stoker
