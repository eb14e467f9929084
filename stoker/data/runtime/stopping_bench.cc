// How long it takes to end a pass in the middle, beyond the calls of user code that are under way
// (each sleeps for 5 ms here and cannot be broken off). Counters: the median and the longest of the
// ends, in milliseconds; wanted: 100 more than a call.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <thread>

#include "stoker/base/statistics.h"
#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"

namespace stoker {
namespace {

constexpr auto kCall = std::chrono::milliseconds(5);

Result<Dataset> Slow() {
  const Map sleep{.function = [](Element&, Rng&, Scratch&) {
    std::this_thread::sleep_for(kCall);
    return OkStatus();
  }};
  return FromArrays({{"x", Array::Allocate(DType::kUInt8, {1000, 64})}}) | Shuffle{} | sleep |
         Batch{.size = 4} | Repeat{} | Prefetch{};
}

void BM_BreakOff(benchmark::State& state) {
  const Result<Dataset> dataset = Slow();
  std::vector<double> ends;
  for (auto _ : state) {
    auto pass = dataset->Open(Runtime::Threaded(static_cast<int>(state.range(0))));
    for (int i = 0; i < 3; ++i) benchmark::DoNotOptimize((*pass)->Next());
    const Stopwatch watch;
    pass->reset();
    ends.push_back(watch.ElapsedSeconds() * 1e3);
    state.SetIterationTime(ends.back() * 1e-3);
  }
  state.counters["median_ms"] = Median(ends);
  state.counters["longest_ms"] = *std::ranges::max_element(ends);
}
BENCHMARK(BM_BreakOff)->Arg(1)->Arg(8)->Arg(64)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stoker
