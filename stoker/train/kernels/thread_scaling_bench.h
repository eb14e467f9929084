// Measures the speed-up of two of torch's threads over one. Only benchmarks include it.
#pragma once

#include <ATen/Parallel.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/rounds_bench.h"
#include "stoker/base/statistics.h"

namespace stoker {

// Returns the median seconds of `work` on one thread divided by those on two. They take turns, so a
// temporary disturbance affects both; each turn begins with one untimed call, which wakes the
// threads. Short work is repeated for half a second, unless it only has to run (BenchRounds).
inline double TwoThreadScaling(const std::function<void()>& work) {
  const int64_t turns = BenchRounds(8), calls_a_turn = BenchRounds(4);
  const double least_seconds = turns > 1 ? 0.5 : 0;
  const int before = at::get_num_threads();
  std::vector<double> seconds[2];
  const Stopwatch all;
  for (int64_t turn = 0; turn < turns || all.ElapsedSeconds() < least_seconds; ++turn) {
    for (const int threads : {1, 2}) {
      at::set_num_threads(threads);
      work();
      for (int64_t call = 0; call < calls_a_turn; ++call) {
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
