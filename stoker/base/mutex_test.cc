#include "stoker/base/mutex.h"

#include <chrono>
#include <thread>
#include <vector>

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

TEST(CondVar, DoesNotWaitForATimeThatHasPassed) {
  Mutex mutex;
  CondVar changed;
  const MutexLock lock(mutex);
  changed.WaitUntil(mutex, std::chrono::steady_clock::now() - std::chrono::seconds(1));
  changed.WaitUntil(mutex, std::chrono::steady_clock::time_point());
  EXPECT_FALSE(AnotherThreadCanLock(mutex));
}

// One wake-up that was lost would leave all threads waiting: each waits until another has had the
// turn, and wakes only one.
TEST(CondVar, LosesNoWakeUpWhileThreadsPassATurn) {
  constexpr int kThreads = 8, kTurns = 4000;
  Mutex mutex;
  CondVar passed;
  int holder = 0;  // the thread whose turn was last
  int turns = 0;
  std::vector<std::thread> threads;
  for (int self = 1; self <= kThreads; ++self) {
    threads.emplace_back([&, self] {
      const MutexLock lock(mutex);
      while (turns < kTurns) {
        if (holder == self) {
          passed.Wait(mutex);
          continue;
        }
        holder = self;
        ++turns;
        passed.NotifyOne();
      }
      passed.NotifyAll();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(turns, kTurns);
}

TEST(CondVar, WakesAllThatWait) {
  constexpr int kThreads = 8;
  Mutex mutex;
  CondVar changed;
  int waiting = 0, round = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const MutexLock lock(mutex);
      for (int next = 1; next <= 100; ++next) {
        ++waiting;
        changed.NotifyAll();
        changed.Wait(mutex, [&] { return round >= next; });
      }
    });
  }
  for (int next = 1; next <= 100; ++next) {
    const MutexLock lock(mutex);
    changed.Wait(mutex, [&] { return waiting == kThreads; });
    waiting = 0;
    round = next;
    changed.NotifyAll();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(round, 100);
}

}  // namespace stoker::mutex_test
