#include "stoker/base/per_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <thread>
#include <vector>

#include "stoker/base/mutex.h"
#include "stoker/base/testing.h"

namespace stoker::per_process_test {

// What a PerProcess holds is never freed, so each one here lives as long as the process.

// Runs `check` in a child; its result is the child's exit code.
bool HoldsInChild(const std::function<bool()>& check) {
  const pid_t child = fork();
  if (child == 0) _exit(check() ? 0 : 1);
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(PerProcess, IsOneObjectInAProcessAndANewOneInItsChild) {
  static PerProcess<int> objects;
  EXPECT_EQ(objects.Find(), nullptr);
  EXPECT_EQ(objects.Get([] { return 3; }), 3);
  EXPECT_EQ(objects.Get([] { return 4; }), 3);
  EXPECT_TRUE(HoldsInChild([&] {
    return objects.Find() == nullptr && objects.Get([] { return 5; }) == 5 && *objects.Find() == 5;
  }));
  EXPECT_EQ(*objects.Find(), 3);
}

TEST(PerProcess, AChildDoesNotWaitForALockThatItsParentHeld) {
  static PerProcess<Mutex> mutexes;
  const MutexLock held(mutexes.Get());
  EXPECT_TRUE(HoldsInChild([&] {
    Mutex& own = mutexes.Get();
    const bool locked = own.TryLock();
    if (locked) own.Unlock();
    return locked;
  }));
}

TEST(PerProcess, ThreadsThatAskTogetherGetTheSameObject) {
  static PerProcess<int> objects;
  std::vector<int*> got(8);
  std::vector<std::thread> threads;
  for (int*& slot : got) threads.emplace_back([&] { slot = &objects.Get(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::vector<int*>(8, got[0]), got);
}

}  // namespace stoker::per_process_test
