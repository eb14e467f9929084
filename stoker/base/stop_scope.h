// StopScope: ends the waits of a thread that is deep inside a read when its pass is asked to stop.
#pragma once

#include <chrono>
#include <functional>

#include "stoker/base/mutex.h"

namespace stoker {

// The interval at which waits call StopScope::Asked(), unless a scope asks for a shorter one.
inline constexpr std::chrono::milliseconds kAskStopEvery{100};

// While one lives, every wait of its thread in Stoker's own code ends with kCancelled once `stop`
// returns true: requests, the waits between two attempts, locks, pipes, other threads' work, and
// the next read of a ByteSource. `stop` is called once in `every`, on this thread and, at the same
// time, on threads that work on its behalf; it must not block. Requests look only as often as
// kAskStopEvery. If scopes are nested, each can end the wait. The thread that made a scope destroys
// it, innermost first.
class StopScope {
 public:
  explicit StopScope(std::function<bool()> stop, std::chrono::milliseconds every = kAskStopEvery);
  // For work on behalf of another thread: `of_another`, which was Innermost() there and may be
  // null, and the scopes around it apply here too. They must outlive this.
  explicit StopScope(const StopScope* of_another);
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;
  ~StopScope();

  // Returns the innermost scope of this thread; null if there is none.
  static const StopScope* Innermost();
  // Returns true if a scope of this thread says that its waits are to end.
  static bool Asked();
  // The same for work that does not wait, to be called often: looks only where a scope of this
  // thread has a shorter interval than kAskStopEvery, and once in that. Costs some nanoseconds.
  static bool AskedNowAndThen();
  // Returns how often a wait of this thread has to call Asked(): the shortest interval of its
  // scopes.
  static std::chrono::milliseconds Interval();

 private:
  static bool IsAskedIn(const StopScope* innermost);

  const std::function<bool()> stop_;  // empty if the scopes are those of another thread
  const StopScope* const of_another_ = nullptr;
  const StopScope* const around_;
  const std::chrono::milliseconds every_;  // of this one and those around it
};

// Waits on `changed`, with `mutex` held, until `done()` is true. Returns false if this thread was
// asked to stop first.
template <typename Done>
bool WaitUnlessStopped(CondVar& changed, Mutex& mutex, const Done& done) STOKER_REQUIRES(mutex) {
  while (!changed.WaitFor(mutex, StopScope::Interval(), done)) {
    if (StopScope::Asked()) return false;
  }
  return true;
}

// Locks `mutex`, which another thread may hold for long, for example during a request. Returns
// false, with it not locked, if this thread was asked to stop first. A MutexLock that adopts
// `mutex` unlocks it.
bool LockUnlessStopped(Mutex& mutex) STOKER_TRY_ACQUIRE(true, mutex);

// Sleeps. Returns false if this thread was asked to stop first.
bool SleepUnlessStopped(double seconds);

// Calls flock(2), whose lock another process may hold for ever; retries after signals. Returns 0 or
// an errno; ECANCELED if this thread was asked to stop first.
int FlockUnlessStopped(int fd, int operation);

// Waits until a read of the pipe, socket or terminal `fd` would not block. Returns 0 or an errno;
// ECANCELED if this thread was asked to stop first.
int PollUnlessStopped(int fd);

}  // namespace stoker
