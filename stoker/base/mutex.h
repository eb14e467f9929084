// Mutex, MutexLock and CondVar, with clang's annotations for thread safety, so that a compiler can
// check what a lock guards. Mutex is that of the standard library and costs nothing beyond it;
// CondVar is our own, because that of glibc before 2.41 may lose a wake-up (docs/adr/0059).
//
//   Mutex mutex_;
//   int64_t count_ STOKER_GUARDED_BY(mutex_) = 0;        // only touched with mutex_ held
//   void Add(int64_t more) STOKER_REQUIRES(mutex_);      // only called with mutex_ held
//
// `./dev lint` has clang check this in all of stoker/; g++ ignores the annotations. They mean what
// https://clang.llvm.org/docs/ThreadSafetyAnalysis.html says of the names without STOKER_.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <mutex>

#if defined(__clang__)
#define STOKER_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define STOKER_THREAD_ANNOTATION(x)
#endif

// A member, or what a pointer member points at, that is only touched with these held.
#define STOKER_GUARDED_BY(x) STOKER_THREAD_ANNOTATION(guarded_by(x))
#define STOKER_PT_GUARDED_BY(x) STOKER_THREAD_ANNOTATION(pt_guarded_by(x))
// A function that is only called with these held, or only with these not held.
#define STOKER_REQUIRES(...) STOKER_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define STOKER_EXCLUDES(...) STOKER_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
// A function that returns with these held, no longer held, or held where it returns `result`.
#define STOKER_ACQUIRE(...) STOKER_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define STOKER_RELEASE(...) STOKER_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define STOKER_TRY_ACQUIRE(result, ...) \
  STOKER_THREAD_ANNOTATION(try_acquire_capability(result, __VA_ARGS__))
// A function that returns this mutex.
#define STOKER_RETURN_CAPABILITY(x) STOKER_THREAD_ANNOTATION(lock_returned(x))
// A function that the analysis cannot follow; a comment beside it says why it is right.
#define STOKER_NO_THREAD_SAFETY_ANALYSIS STOKER_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace stoker {

class STOKER_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  constexpr Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() STOKER_THREAD_ANNOTATION(acquire_capability()) { mutex_.lock(); }
  void Unlock() STOKER_THREAD_ANNOTATION(release_capability()) { mutex_.unlock(); }
  // Returns whether this thread holds it now.
  bool TryLock() STOKER_THREAD_ANNOTATION(try_acquire_capability(true)) {
    return mutex_.try_lock();
  }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

// Holds a mutex while it lives.
class STOKER_THREAD_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) STOKER_ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  // Of one that the calling thread holds already.
  MutexLock(Mutex& mutex, std::adopt_lock_t) STOKER_REQUIRES(mutex) : mutex_(mutex) {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  ~MutexLock() STOKER_RELEASE() { mutex_.Unlock(); }

 private:
  Mutex& mutex_;
};

// Lets go of a mutex, which the calling thread holds, while it lives.
class STOKER_THREAD_ANNOTATION(scoped_lockable) MutexUnlock {
 public:
  explicit MutexUnlock(Mutex& mutex) STOKER_RELEASE(mutex) : mutex_(mutex) { mutex_.Unlock(); }
  MutexUnlock(const MutexUnlock&) = delete;
  MutexUnlock& operator=(const MutexUnlock&) = delete;
  // To the analysis, it ends what the constructor began.
  ~MutexUnlock() STOKER_RELEASE() { mutex_.Lock(); }

 private:
  Mutex& mutex_;
};

// Waits for what other threads change with a mutex held. Each wait is called with `mutex` held, and
// returns with it held; it may return before the other thread has called Notify. `done` is called
// with `mutex` held: as a lambda that reads what it guards, it says STOKER_REQUIRES itself.
//
// Notify increments a counter, and waiters sleep on it with futex(2). A waiter reads the counter
// before it unlocks the mutex, and sleeps only if the counter still has that value. What it waits
// for can only change after the unlock, and Notify comes after the change, so it is not missed.
// (The counter has 32 bits: 2^32 calls between the reading and the sleep would be missed.)
class CondVar {
 public:
  CondVar() = default;
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  // REQUIRES: the caller holds the mutex, or has held it since it changed what is waited for. Where
  // it holds it no longer, the CondVar must outlive the call: a waiter may see the change and
  // destroy it. NotifyOne wakes one thread at least, maybe one that began to wait after the call,
  // so all have to wait for the same thing.
  void NotifyOne() { Notify(1); }
  void NotifyAll() { Notify(std::numeric_limits<int>::max()); }

  void Wait(Mutex& mutex) STOKER_REQUIRES(mutex) { Sleep(mutex, nullptr); }
  // Until `done()` is true. (The analysis does not see that it is called with `mutex` held.)
  template <typename Done>
  void Wait(Mutex& mutex, const Done& done)
      STOKER_REQUIRES(mutex) STOKER_NO_THREAD_SAFETY_ANALYSIS {
    while (!done()) Wait(mutex);
  }

  // Until `end`, or notified before.
  void WaitUntil(Mutex& mutex, std::chrono::steady_clock::time_point end) STOKER_REQUIRES(mutex) {
    Sleep(mutex, &end);
  }
  // Until `done()` is true, or for so long. Returns what `done()` is then.
  template <typename Done>
  bool WaitFor(Mutex& mutex, std::chrono::nanoseconds most, const Done& done)
      STOKER_REQUIRES(mutex) STOKER_NO_THREAD_SAFETY_ANALYSIS {
    const auto end = std::chrono::steady_clock::now() + most;
    while (!done()) {
      if (std::chrono::steady_clock::now() >= end) return done();
      WaitUntil(mutex, end);
    }
    return true;
  }

 private:
  void Notify(int most);
  // Lets go of `mutex` meanwhile. Sleeps at most until `end`, which may be null.
  void Sleep(Mutex& mutex, const std::chrono::steady_clock::time_point* end) STOKER_REQUIRES(mutex);

  std::atomic<uint32_t> notified_{0};  // how often; futex(2) takes 32 bits
  std::atomic<int> waiting_{0};
};

}  // namespace stoker
