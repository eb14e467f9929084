#include "stoker/base/worker_group.h"

#include <pthread.h>
#include <signal.h>

#include <mutex>
#include <set>
#include <string>

#include "stoker/base/testing.h"

namespace stoker {
namespace {

std::string OwnName() {
  char name[16];
  pthread_getname_np(pthread_self(), name, sizeof(name));
  return name;
}

TEST(WorkerGroup, RunsEachWorkerOnceUnderItsName) {
  std::mutex mutex;
  std::set<int> workers;
  std::set<std::string> names;
  {
    WorkerGroup group(12, "a-very-long-stage-name", [&](int worker) {
      const std::lock_guard lock(mutex);
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
  WorkerGroup group(1, "signals", [&](int) {
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

TEST(WorkerGroup, JoiningTwiceOrAnEmptyGroupIsHarmless) {
  WorkerGroup group(2, "w", [](int) {});
  group.Join();
  group.Join();
  WorkerGroup empty;
  empty.Join();
  group = WorkerGroup(1, "v", [](int) {});
}

TEST(AvailableCpus, IsAtLeastOne) { EXPECT_GE(AvailableCpus(), 1); }

}  // namespace
}  // namespace stoker
