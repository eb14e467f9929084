#include "stoker/base/mutex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

namespace stoker {

// As futex(2) takes it.
static_assert(sizeof(std::atomic<uint32_t>) == 4 && std::atomic<uint32_t>::is_always_lock_free);

// The caller has held the mutex since it changed what is waited for. So a waiter that did not see
// the change had counted itself, and read notified_, before.
void CondVar::Notify(int most) {
  if (waiting_.load() == 0) return;
  notified_.fetch_add(1);
  ::syscall(SYS_futex, &notified_, FUTEX_WAKE_PRIVATE, most, nullptr, nullptr, 0);
}

void CondVar::Sleep(Mutex& mutex, const std::chrono::steady_clock::time_point* end) {
  timespec until{};
  if (end != nullptr) {
    const auto since_boot = end->time_since_epoch();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(since_boot);
    until.tv_sec = seconds.count();
    until.tv_nsec = std::chrono::nanoseconds(since_boot - seconds).count();
  }
  const int error_before = errno;  // as with the waits of the standard library
  waiting_.fetch_add(1);
  const uint32_t seen = notified_.load();
  mutex.Unlock();
  // Whatever ends it, the caller looks again. This form takes the time as a point of
  // CLOCK_MONOTONIC, which is the steady clock's.
  ::syscall(SYS_futex, &notified_, FUTEX_WAIT_BITSET_PRIVATE, seen,
            end != nullptr ? &until : nullptr, nullptr, FUTEX_BITSET_MATCH_ANY);
  mutex.Lock();
  waiting_.fetch_sub(1);
  errno = error_before;
}

}  // namespace stoker
