#include "stoker/base/mutex.h"

#include <chrono>
#include <thread>

#include "stoker/base/testing.h"

namespace stoker::mutex_test {

using std::chrono::milliseconds;

bool AnotherThreadCanLock(Mutex& mutex) {
  bool could = false;
  std::thread([&] {
    if (!mutex.TryLock()) return;
    could = true;
    mutex.Unlock();
  }).join();
  return could;
}

TEST(Mutex, IsHeldForAsLongAsItsLockLives) {
  Mutex mutex;
  {
    const MutexLock lock(mutex);
    EXPECT_FALSE(AnotherThreadCanLock(mutex));
  }
  EXPECT_TRUE(AnotherThreadCanLock(mutex));
}

TEST(Mutex, IsFreeForAsLongAsItsUnlockLives) {
  Mutex mutex;
  const MutexLock lock(mutex);
  {
    const MutexUnlock meanwhile(mutex);
    EXPECT_TRUE(AnotherThreadCanLock(mutex));
  }
  EXPECT_FALSE(AnotherThreadCanLock(mutex));
}

TEST(Mutex, ALockThatAdoptsOneLetsItGo) {
  Mutex mutex;
  if (!mutex.TryLock()) GTEST_FAIL() << "although nobody held it";
  { const MutexLock lock(mutex, std::adopt_lock); }
  EXPECT_TRUE(AnotherThreadCanLock(mutex));
}

TEST(CondVar, WaitsUntilAnotherThreadHasChangedWhatItWaitsFor) {
  Mutex mutex;
  CondVar changed;
  int turn = 0;  // each thread waits for its own number
  std::thread other([&] {
    const MutexLock lock(mutex);
    changed.Wait(mutex, [&] { return turn == 1; });
    turn = 2;
    changed.NotifyAll();
  });
  {
    const MutexLock lock(mutex);
    turn = 1;
    changed.NotifyOne();
    while (turn != 2) changed.Wait(mutex);
    EXPECT_FALSE(AnotherThreadCanLock(mutex));
  }
  other.join();
}

TEST(CondVar, SaysWhetherWhatItWaitedForCameInTime) {
  Mutex mutex;
  CondVar changed;
  const MutexLock lock(mutex);
  const auto never = [] { return false; };
  EXPECT_FALSE(changed.WaitFor(mutex, milliseconds(1), never));
  EXPECT_FALSE(AnotherThreadCanLock(mutex));
  int calls = 0;
  const auto second_time = [&] { return ++calls == 2; };
  EXPECT_TRUE(changed.WaitFor(mutex, milliseconds(0), second_time));
}

}  // namespace stoker::mutex_test
