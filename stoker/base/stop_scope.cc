#include "stoker/base/stop_scope.h"

#include <poll.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <thread>
#include <utility>

namespace stoker {
namespace {

thread_local const StopScope* innermost_here = nullptr;

// Sleeps between two looks at something that announces no change: short at first, since most locks
// are held for a moment only.
class Pauses {
 public:
  void Sleep() {
    constexpr std::chrono::microseconds kLongest{10'000};
    std::this_thread::sleep_for(next_);
    next_ = std::min(2 * next_, kLongest);
  }

 private:
  std::chrono::microseconds next_{50};
};

}  // namespace

StopScope::StopScope(std::function<bool()> stop, std::chrono::milliseconds every)
    : stop_(std::move(stop)), around_(innermost_here), every_(std::min(every, Interval())) {
  innermost_here = this;
}

StopScope::StopScope(const StopScope* of_another)
    : of_another_(of_another),
      around_(innermost_here),
      every_(std::min(of_another != nullptr ? of_another->every_ : kAskStopEvery, Interval())) {
  innermost_here = this;
}

StopScope::~StopScope() { innermost_here = around_; }

const StopScope* StopScope::Innermost() { return innermost_here; }

bool StopScope::Asked() { return IsAskedIn(innermost_here); }

bool StopScope::AskedNowAndThen() {
  const std::chrono::milliseconds every = Interval();
  if (every >= kAskStopEvery) return false;
  // The coarse clock is a read of memory; it advances every few milliseconds.
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  const int64_t milliseconds = int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
  thread_local int64_t asked_at = 0;
  if (milliseconds - asked_at < every.count()) return false;
  asked_at = milliseconds;
  return Asked();
}

std::chrono::milliseconds StopScope::Interval() {
  return innermost_here != nullptr ? innermost_here->every_ : kAskStopEvery;
}

bool StopScope::IsAskedIn(const StopScope* innermost) {
  for (const StopScope* scope = innermost; scope != nullptr; scope = scope->around_) {
    if (scope->stop_ && scope->stop_()) return true;
    if (scope->of_another_ != nullptr && IsAskedIn(scope->of_another_)) return true;
  }
  return false;
}

bool LockUnlessStopped(Mutex& mutex) {
  for (Pauses pauses; !mutex.TryLock(); pauses.Sleep()) {
    if (StopScope::Asked()) return false;
  }
  return true;
}

bool SleepUnlessStopped(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (!StopScope::Asked()) {
    const auto now = Clock::now();
    if (now >= end) return true;
    std::this_thread::sleep_until(std::min<decltype(end)>(end, now + StopScope::Interval()));
  }
  return false;
}

int FlockUnlessStopped(int fd, int operation) {
  for (Pauses pauses; ::flock(fd, operation | LOCK_NB) != 0;) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK || (operation & LOCK_NB) != 0) return errno;
    if (StopScope::Asked()) return ECANCELED;
    pauses.Sleep();
  }
  return 0;
}

int PollUnlessStopped(int fd) {
  while (true) {
    pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(StopScope::Interval().count()));
    if (ready > 0) return 0;  // also where the read is to fail
    if (ready < 0 && errno != EINTR) return errno;
    if (StopScope::Asked()) return ECANCELED;
  }
}

}  // namespace stoker
