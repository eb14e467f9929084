// Processes that are ranks of a group, for tests. Only tests include it.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "stoker/cluster/group.h"
#include "stoker/cluster/loopback_testing.h"

namespace stoker {

struct Listener : LoopbackListener {
  Listener() { EXPECT_NE(port, 0) << "the system refuses a socket that listens"; }
};

// A value that a test and the processes it starts share.
template <typename T>
class Shared {
 public:
  Shared()
      : value_(new (::mmap(nullptr, sizeof(std::atomic<T>), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0)) std::atomic<T>(T{})) {}
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { ::munmap(value_, sizeof *value_); }

  std::atomic<T>& operator*() const { return *value_; }
  void WaitUntil(T value) const {
    while (*value_ != value) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  std::atomic<T>* const value_;
};

// Calls `run` in `count` processes at once, and expects that none of them fails an expectation.
inline void InProcesses(int64_t count, const std::function<void(int64_t)>& run) {
  std::vector<pid_t> processes;
  for (int64_t i = 0; i < count; ++i) {
    std::fflush(nullptr);
    processes.push_back(::fork());
    if (processes.back() == 0) {
      ::signal(SIGPIPE, SIG_IGN);
      run(i);
      std::fflush(nullptr);
      ::_exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    ASSERT_GT(processes.back(), 0);
  }
  for (const pid_t process : processes) {
    int status = -1;
    ::waitpid(process, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

// Calls `run` once for each rank, each in a process of its own.
inline void AsRanks(int64_t world, const std::function<void(Group&)>& run,
                    JoinOptions options = {}) {
  const Listener listener;
  InProcesses(world, [&](int64_t rank) {
    auto group = JoinGroup(MemberOf(listener, rank, world), options);
    ASSERT_TRUE(group.ok()) << group.status().ToString();
    run(**group);
  });
}

}  // namespace stoker
