// What it costs to wake a thread: two threads wake each other in turn, and one notifies nobody;
// with CondVar and with the condition variable of the standard library.
#include <benchmark/benchmark.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "stoker/base/mutex.h"

namespace stoker {
namespace {

class Ours {
 public:
  void Set(int turn) {
    {
      const MutexLock lock(mutex_);
      turn_ = turn;
    }
    changed_.NotifyOne();
  }
  void Await(int turn) {
    const MutexLock lock(mutex_);
    while (turn_ != turn) changed_.Wait(mutex_);
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  int turn_ STOKER_GUARDED_BY(mutex_) = 0;
};

class OfTheStandardLibrary {
 public:
  void Set(int turn) {
    {
      const std::lock_guard lock(mutex_);
      turn_ = turn;
    }
    changed_.notify_one();
  }
  void Await(int turn) {
    std::unique_lock lock(mutex_);
    while (turn_ != turn) changed_.wait(lock);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int turn_ = 0;
};

template <typename Turn>
void WakeEachOther(benchmark::State& state) {
  Turn go, come;
  std::thread other([&] {
    for (int number = 1; number <= static_cast<int>(state.max_iterations); ++number) {
      go.Await(number);
      come.Set(number);
    }
  });
  int number = 0;
  for (auto _ : state) {
    go.Set(++number);
    come.Await(number);
  }
  other.join();
  state.SetItemsProcessed(2 * state.iterations());
}

template <typename Turn>
void NotifyNobody(benchmark::State& state) {
  Turn turn;
  for (auto _ : state) turn.Set(1);
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(WakeEachOther<OfTheStandardLibrary>)->UseRealTime();
BENCHMARK(WakeEachOther<Ours>)->UseRealTime();
BENCHMARK(NotifyNobody<OfTheStandardLibrary>);
BENCHMARK(NotifyNobody<Ours>);

}  // namespace
}  // namespace stoker
