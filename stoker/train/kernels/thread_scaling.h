// Measures the speed-up of two of torch's threads over one. Only benchmarks include it.
#pragma once

#include <ATen/Parallel.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/statistics.h"

namespace stoker {

// Returns the median seconds of `work` on one thread divided by those on two. They take turns, so a
// temporary disturbance affects both; each turn begins with one untimed call, which wakes the
// threads. Short work is repeated for half a second.
inline double TwoThreadScaling(const std::function<void()>& work) {
  constexpr int kTurns = 8, kCallsATurn = 4;
  constexpr double kLeastSeconds = 0.5;
  const int before = at::get_num_threads();
  std::vector<double> seconds[2];
  const Stopwatch all;
  for (int turn = 0; turn < kTurns || all.ElapsedSeconds() < kLeastSeconds; ++turn) {
    for (const int threads : {1, 2}) {
      at::set_num_threads(threads);
      work();
      for (int call = 0; call < kCallsATurn; ++call) {
        const Stopwatch watch;
        work();
        seconds[threads - 1].push_back(watch.ElapsedSeconds());
      }
    }
  }
  at::set_num_threads(before);
  return Median(seconds[0]) / Median(seconds[1]);
}

}  // namespace stoker
