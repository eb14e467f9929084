#include "stoker/device/torch_threads.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "stoker/base/mutex.h"

namespace stoker::torch_threads_test {

constexpr int kThreadCounts[] = {1, 2, 3, 5};

// The thread count of before comes back with the test's end.
class TorchThreads : public testing::Test {
 protected:
  ~TorchThreads() override { at::set_num_threads(before_); }

 private:
  const int before_ = at::get_num_threads();
};

pid_t ThreadId() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

// The files of OpenMP runtimes that the process has mapped.
std::set<std::string> OpenMpRuntimes() {
  std::ifstream maps("/proc/self/maps");
  std::set<std::string> found;
  for (std::string line; std::getline(maps, line);) {
    const size_t slash = line.rfind('/');
    if (slash == std::string::npos) continue;
    const std::string name = line.substr(slash + 1);
    for (const char* runtime : {"libgomp", "libomp", "libiomp"}) {
      if (name.starts_with(runtime)) found.insert(line.substr(line.find('/')));
    }
  }
  return found;
}

TEST_F(TorchThreads, AsManyThreadsWorkAsTorchIsSetTo) {
  for (const int threads : kThreadCounts) {
    at::set_num_threads(threads);
    Mutex mutex;
    std::set<pid_t> seen;
    ForRangesOnTorchThreads(threads, [&](int64_t, int64_t) {
      const MutexLock lock(mutex);
      seen.insert(ThreadId());
    });
    EXPECT_EQ(std::ssize(seen), threads);
    EXPECT_TRUE(seen.contains(ThreadId()));
  }
}

TEST_F(TorchThreads, TheRangesCoverEachNumberOnce) {
  for (const int threads : kThreadCounts) {
    at::set_num_threads(threads);
    for (const int64_t n : {0, 1, 2, 3, 7, 1000}) {
      std::vector<std::atomic<int>> times(static_cast<size_t>(n));
      ForRangesOnTorchThreads(n, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++times[static_cast<size_t>(i)];
      });
      for (const std::atomic<int>& each : times) EXPECT_EQ(each, 1) << n << " on " << threads;
    }
  }
}

TEST_F(TorchThreads, WorkThatStandsWithinOtherWorkStaysOnItsThread) {
  at::set_num_threads(3);
  std::atomic<int> strangers{0}, ranges{0};
  ForRangesOnTorchThreads(3, [&](int64_t, int64_t) {
    const pid_t self = ThreadId();
    ForRangesOnTorchThreads(8, [&](int64_t begin, int64_t end) {
      strangers += ThreadId() != self;
      ranges += static_cast<int>(end - begin);
    });
  });
  EXPECT_EQ(strangers, 0);
  EXPECT_EQ(ranges, 3 * 8);
}

TEST_F(TorchThreads, AnExceptionOfAnyThreadReachesTheCaller) {
  at::set_num_threads(3);
  EXPECT_THROW(ForRangesOnTorchThreads(3,
                                       [](int64_t, int64_t end) {
                                         if (end == 3) throw std::runtime_error("the last range");
                                       }),
               std::runtime_error);
}

TEST_F(TorchThreads, EachOfThemIsReachedOnce) {
  for (const int threads : kThreadCounts) {
    at::set_num_threads(threads);
    Mutex mutex;
    std::multiset<pid_t> seen;
    OnEachTorchThread([&] {
      const MutexLock lock(mutex);
      seen.insert(ThreadId());
    });
    EXPECT_EQ(std::ssize(seen), threads);
    EXPECT_EQ(std::ssize(std::set<pid_t>(seen.begin(), seen.end())), threads);
  }
}

// A second runtime would have threads of its own, which compete with the first's for the CPUs.
TEST_F(TorchThreads, TheProcessHasOneOpenMpRuntime) {
  at::set_num_threads(2);
  OnEachTorchThread([] {});
  at::empty({1 << 20}).fill_(1);  // work of torch's own
  EXPECT_EQ(OpenMpRuntimes().size(), 1) << testing::PrintToString(OpenMpRuntimes());
}

}  // namespace stoker::torch_threads_test
