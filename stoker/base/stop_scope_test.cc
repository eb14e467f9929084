#include "stoker/base/stop_scope.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "stoker/base/testing.h"

namespace stoker::stop_scope_test {

TEST(StopScope, EachOfSeveralThatAreNestedCountsAsLongAsItLives) {
  EXPECT_EQ(StopScope::Innermost(), nullptr);
  EXPECT_FALSE(StopScope::Asked());
  bool outer = false, inner = false;
  const StopScope around([&] { return outer; });
  {
    const StopScope inside([&] { return inner; });
    EXPECT_FALSE(StopScope::Asked());
    inner = true;
    EXPECT_TRUE(StopScope::Asked());
    inner = false;
    outer = true;
    EXPECT_TRUE(StopScope::Asked());
  }
  inner = true;
  outer = false;
  EXPECT_FALSE(StopScope::Asked());
}

TEST(StopScope, WorkForAnotherThreadHeedsTheScopesOfBoth) {
  std::atomic<bool> of_owner{false}, of_helper{false};
  const StopScope owner([&] { return of_owner.load(); });
  const StopScope* const scope = StopScope::Innermost();
  std::thread([&] {
    EXPECT_FALSE(StopScope::Asked()) << "scopes are of a thread";
    const StopScope helper([&] { return of_helper.load(); });
    const StopScope for_owner(scope);
    EXPECT_FALSE(StopScope::Asked());
    of_owner = true;
    EXPECT_TRUE(StopScope::Asked());
    of_owner = false;
    of_helper = true;
    EXPECT_TRUE(StopScope::Asked());
  }).join();
  std::thread([] {
    const StopScope of_nobody(static_cast<const StopScope*>(nullptr));
    EXPECT_FALSE(StopScope::Asked());
  }).join();
}

TEST(StopScope, WaitsAskAsOftenAsTheMostImpatientScopeWants) {
  using std::chrono::milliseconds;
  EXPECT_EQ(StopScope::Interval(), kAskStopEvery);
  const StopScope patient([] { return false; }, milliseconds(500));
  EXPECT_EQ(StopScope::Interval(), kAskStopEvery);
  {
    int asked = 0;
    const StopScope impatient([&] { return ++asked == 40; }, milliseconds(1));
    const StopScope inside([] { return false; });
    EXPECT_EQ(StopScope::Interval(), milliseconds(1));
    EXPECT_FALSE(SleepUnlessStopped(30));
    EXPECT_EQ(asked, 40);
    const StopScope* const scope = StopScope::Innermost();
    std::thread([&] {
      const StopScope for_another(scope);
      EXPECT_EQ(StopScope::Interval(), milliseconds(1));
    }).join();
  }
  EXPECT_EQ(StopScope::Interval(), kAskStopEvery);
}

TEST(StopScope, WorkThatDoesNotWaitAsksOnceInTheIntervalOfAnImpatientScope) {
  {
    const StopScope patient([] { return true; });
    for (int i = 0; i < 1000; ++i) EXPECT_FALSE(StopScope::AskedNowAndThen());
  }
  int64_t asked = 0, calls = 0;
  const StopScope impatient([&] { return ++asked == 3; }, std::chrono::milliseconds(5));
  while (!StopScope::AskedNowAndThen()) ++calls;
  EXPECT_EQ(asked, 3);
  EXPECT_GT(calls, 3);
}

TEST(StopScope, WaitsEndWhereTheThreadIsAskedTo) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const TempDir dir;
  const int held = ::open((dir / "lock").c_str(), O_RDWR | O_CREAT, 0666);
  const int wanted = ::open((dir / "lock").c_str(), O_RDWR);
  ASSERT_EQ(FlockUnlessStopped(held, LOCK_EX), 0);
  Mutex mutex, other;
  const MutexLock holding(mutex);
  CondVar never;
  std::thread([&] {
    const StopScope scope([asked = 0]() mutable { return ++asked % 4 == 0; });
    EXPECT_EQ(PollUnlessStopped(pipe[0]), ECANCELED);
    EXPECT_EQ(FlockUnlessStopped(wanted, LOCK_EX), ECANCELED);
    const bool locked = LockUnlessStopped(mutex);
    if (locked) mutex.Unlock();
    EXPECT_FALSE(locked);
    const MutexLock waiting(other);
    EXPECT_FALSE(WaitUnlessStopped(never, other, [] { return false; }));
  }).join();
  ::close(held);
  ::close(wanted);
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(StopScope, WaitsEndWithWhatTheyWaitForAlthoughTheThreadIsAskedTo) {
  const StopScope scope([] { return true; });
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  ASSERT_EQ(::write(pipe[1], "x", 1), 1);
  EXPECT_EQ(PollUnlessStopped(pipe[0]), 0);
  ::close(pipe[0]);
  ::close(pipe[1]);
  const TempDir dir;
  const int file = ::open((dir / "lock").c_str(), O_RDWR | O_CREAT, 0666);
  EXPECT_EQ(FlockUnlessStopped(file, LOCK_EX), 0);
  ::close(file);
  Mutex mutex;
  if (!LockUnlessStopped(mutex)) GTEST_FAIL() << "although nobody held it";
  const MutexLock lock(mutex, std::adopt_lock);
  CondVar changed;
  const bool came = WaitUnlessStopped(changed, mutex, [] { return true; });
  EXPECT_TRUE(came);
}

TEST(StopScope, ALockThatIsNotToBeWaitedForIsNot) {
  const TempDir dir;
  const int held = ::open((dir / "lock").c_str(), O_RDWR | O_CREAT, 0666);
  const int wanted = ::open((dir / "lock").c_str(), O_RDWR);
  ASSERT_EQ(FlockUnlessStopped(held, LOCK_EX), 0);
  EXPECT_EQ(FlockUnlessStopped(wanted, LOCK_EX | LOCK_NB), EWOULDBLOCK);
  ::close(held);
  ::close(wanted);
}

}  // namespace stoker::stop_scope_test
