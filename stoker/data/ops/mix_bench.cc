// A mixture whose rounds are shuffled together, so that each read needs the orders of all rounds.
// `of_one_round`: the time for an element, divided by that without repeat.
#include <benchmark/benchmark.h>

#include "stoker/base/clock.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/mix.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/sources/range.h"

namespace stoker {
namespace {

constexpr int64_t kBatch = 128;

// Ratios of no small integers, so that the blocks of the plan are long.
Result<Dataset> ShuffledRounds(int64_t rounds) {
  return Source(Mix{.inputs = {*Source(Range{.stop = 100'000}), *Source(Range{.stop = 300'000})},
                    .weights = {1, 3.14159}}) |
         Repeat{.count = rounds} | Shuffle{} | Batch{.size = kBatch};
}

// Seconds for an element, of the first `batches` batches.
double SecondsAnElement(const Dataset& dataset, int64_t batches, benchmark::State& state) {
  const auto iterator = dataset.Open(Runtime::Threaded(2));
  const Stopwatch watch;
  for (int64_t i = 0; i < batches; ++i) {
    const auto batch = (*iterator)->Next();
    if (!batch.ok() || !*batch || (*batch)->arrays[0].shape()[0] != kBatch)
      state.SkipWithError("wrong answer");
  }
  return watch.ElapsedSeconds() / static_cast<double>(batches * kBatch);
}

void BM_ShuffledRoundsOfAMixture(benchmark::State& state) {
  constexpr int64_t kBatches = 1000;
  const Result<Dataset> one = ShuffledRounds(1), many = ShuffledRounds(state.range(0));
  double took = 0, plain = 0;
  for (auto _ : state) {
    plain += SecondsAnElement(*one, kBatches, state);
    took += SecondsAnElement(*many, kBatches, state);
  }
  state.counters["of_one_round"] = took / plain;
  state.SetItemsProcessed(2 * state.iterations() * kBatches * kBatch);
}
BENCHMARK(BM_ShuffledRoundsOfAMixture)
    ->ArgName("rounds")
    ->Arg(2)
    ->Arg(10)
    ->Arg(100)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace stoker
