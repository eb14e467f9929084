#include "stoker/base/worker_group.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <set>
#include <string>

#include "stoker/base/denormals.h"
#include "stoker/base/mutex.h"
#include "stoker/base/testing.h"

namespace stoker::worker_group_test {

std::string OwnName() {
  char name[16];
  pthread_getname_np(pthread_self(), name, sizeof(name));
  return name;
}

TEST(WorkerGroup, RunsEachWorkerOnceUnderItsName) {
  Mutex mutex;
  std::set<int> workers;
  std::set<std::string> names;
  {
    WorkerGroup group = *WorkerGroup::Start(12, "a-very-long-stage-name", [&](int worker) {
      const MutexLock lock(mutex);
      workers.insert(worker);
      names.insert(OwnName());
    });
  }
  EXPECT_EQ(workers.size(), 12u);
  EXPECT_EQ(names.size(), 12u);
  EXPECT_EQ(names.count("a-very-long-st7"), 1u);
  EXPECT_EQ(names.count("a-very-long-s11"), 1u);
}

TEST(WorkerGroup, BlocksInterruptsInItsThreadsOnly) {
  const auto blocked = [](int signal) {
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    return sigismember(&mask, signal) == 1;
  };
  bool interrupt = false, terminate = false, other = true;
  WorkerGroup group = *WorkerGroup::Start(1, "signals", [&](int) {
    interrupt = blocked(SIGINT);
    terminate = blocked(SIGTERM);
    other = blocked(SIGUSR1);
  });
  group.Join();
  EXPECT_TRUE(interrupt);
  EXPECT_TRUE(terminate);
  EXPECT_FALSE(other);
  EXPECT_FALSE(blocked(SIGINT));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they need the address space

// Lets this process map only `bytes` more than it has, for the scope.
class AddressSpaceLimit {
 public:
  explicit AddressSpaceLimit(rlim_t bytes) {
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    getrlimit(RLIMIT_AS, &before_);
    const rlimit limit{pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + bytes,
                       before_.rlim_max};
    setrlimit(RLIMIT_AS, &limit);
  }
  ~AddressSpaceLimit() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_;
};

TEST(WorkerGroup, EndsThoseItHasStartedWhereTheSystemGivesNoMoreThreads) {
  std::atomic<int> ran = 0;
  Result<WorkerGroup> group = InvalidArgument("not tried");
  {
    const AddressSpaceLimit limit(48 << 20);  // room for a few stacks of 8 MiB
    group = WorkerGroup::Start(64, "many", [&](int) { ++ran; });
  }
  EXPECT_THAT(group, FailsWith(StatusCode::kResourceExhausted, "of 64 cannot be started"));
  EXPECT_THAT(group, FailsWith(StatusCode::kResourceExhausted, "use fewer threads"));
  EXPECT_THAT(group, testing::Not(FailsWith(StatusCode::kResourceExhausted, "thread 1 of")));
  EXPECT_EQ(ran, 0);
}

#endif

// A thread would otherwise have the mode of whichever thread starts it.
TEST(WorkerGroup, KeepsDenormalsAlsoWhereItsStarterFlushesThem) {
  const DenormalScope flushed(/*flushed=*/true);
  std::atomic<uint32_t> mode{0};
  STOKER_ASSERT_OK_AND_ASSIGN(WorkerGroup group,
                              WorkerGroup::Start(1, "test", [&](int) { mode = FloatMode(); }));
  group.Join();
  EXPECT_EQ(mode, WithDenormalsFlushed(FloatMode(), false));
}

TEST(WorkerGroup, JoiningTwiceOrAnEmptyGroupIsHarmless) {
  WorkerGroup group = *WorkerGroup::Start(2, "w", [](int) {});
  group.Join();
  group.Join();
  WorkerGroup empty;
  empty.Join();
  group = *WorkerGroup::Start(1, "v", [](int) {});
}

TEST(AvailableCpus, IsAtLeastOne) { EXPECT_GE(AvailableCpus(), 1); }

}  // namespace stoker::worker_group_test
