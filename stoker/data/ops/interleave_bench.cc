// Interleave over a source that sleeps 20 ms for each read, as a disk or an object store may: how
// close to what the latency alone allows. `of_ideal` is the time taken, divided by that of reading
// every element of the cycle's inputs side by side and doing nothing else. It is less than 1 where
// there is more than one round, since the inputs that come next read ahead too.
//
// And two quick inputs in a cycle that is longer: `of_two_places` is the time taken, divided by
// that with a place for each.
#include <benchmark/benchmark.h>

#include <chrono>
#include <thread>

#include "stoker/base/clock.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/nodes/from_generator.h"
#include "stoker/data/ops/interleave.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/sources/range.h"

namespace stoker {
namespace {

constexpr int64_t kReadsOfInput = 20;

void SleepOfOneRead() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

Result<Dataset> SlowInput(const Spec& spec, int64_t number) {
  return FromGenerator(spec, [number](uint64_t) {
    return [number, read = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (read == kReadsOfInput) return std::nullopt;
      SleepOfOneRead();
      Array value = Array::Allocate(DType::kInt64, {});
      value.values<int64_t>()[0] = number * kReadsOfInput + read++;
      return Element{.arrays = {std::move(value)}};
    };
  });
}

void BM_InterleaveOf20MsReads(benchmark::State& state) {
  const int64_t cycle = state.range(0);
  const int64_t rounds = state.range(1);  // inputs one after the other in each place of the cycle
  const int64_t inputs = rounds * cycle;
  const Spec spec{{{"value", DType::kInt64, {}}}};
  const Result<Dataset> dataset =
      Source(Range{.stop = inputs}) |
      InterleaveEach{.function =
                         [&](const Element& element) {
                           return SlowInput(spec, element.arrays[0].values<int64_t>()[0]);
                         },
                     .output = spec,
                     .cycle_length = cycle};
  double took = 0, ideal = 0;
  for (auto _ : state) {
    const Stopwatch sleeping;  // what 20 ms of sleep really take here
    for (int i = 0; i < 5; ++i) SleepOfOneRead();
    ideal += sleeping.ElapsedSeconds() / 5 * static_cast<double>(rounds * kReadsOfInput);
    const Stopwatch reading;
    const auto iterator = dataset->Open(Runtime::Threaded(2));
    int64_t sum = 0, read = 0;
    for (auto next = (*iterator)->Next(); next.ok() && *next; next = (*iterator)->Next(), ++read)
      sum += (*next)->arrays[0].values<int64_t>()[0];
    took += reading.ElapsedSeconds();
    const int64_t all = inputs * kReadsOfInput;
    if (read != all || sum != all * (all - 1) / 2) state.SkipWithError("wrong answer");
  }
  state.counters["of_ideal"] = took / ideal;
}
BENCHMARK(BM_InterleaveOf20MsReads)
    ->ArgNames({"cycle", "rounds"})
    ->ArgsProduct({{1, 4, 16}, {1, 3}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

double SecondsOfTwoInputs(int64_t cycle, benchmark::State& state) {
  constexpr int64_t kElements = 20'000;
  const Spec spec = Source(Range{.stop = 1})->spec();
  const auto make = [](const Element&) { return Source(Range{.stop = kElements}); };
  const Result<Dataset> dataset =
      Source(Range{.stop = 2}) |
      InterleaveEach{.function = make, .output = spec, .cycle_length = cycle};
  const auto iterator = dataset->Open(Runtime::Threaded(2));
  const Stopwatch watch;
  int64_t read = 0;
  for (auto next = (*iterator)->Next(); next.ok() && *next; next = (*iterator)->Next()) ++read;
  if (read != 2 * kElements) state.SkipWithError("wrong answer");
  return watch.ElapsedSeconds();
}

void BM_InterleaveWithEmptyPlaces(benchmark::State& state) {
  double took = 0, plain = 0;
  for (auto _ : state) {
    plain += SecondsOfTwoInputs(2, state);
    took += SecondsOfTwoInputs(state.range(0), state);
  }
  state.counters["of_two_places"] = took / plain;
}
BENCHMARK(BM_InterleaveWithEmptyPlaces)
    ->ArgName("cycle")
    ->Arg(64)
    ->Arg(1024)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace stoker
