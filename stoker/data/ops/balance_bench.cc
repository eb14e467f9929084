// Positions per second out of balance's order, many or one at a time, over few and many classes.
// The yardstick is the exact shuffle of as many elements.
#include <benchmark/benchmark.h>

#include <vector>

#include "stoker/data/ops/balanced_order_internal.h"

namespace stoker {
namespace {

constexpr int64_t kElements = 1'000'000;
constexpr uint64_t kSeed = 1, kEpoch = 2, kStage = 3;

// `at_once` positions by an order made for them, as a read does.
template <typename MakeOrder>
void ReadInChunks(benchmark::State& state, int64_t at_once, const MakeOrder& make_order,
                  const std::vector<int64_t>& expected) {
  int64_t position = 0;
  std::vector<int64_t> sources(static_cast<size_t>(at_once));
  for (auto _ : state) {
    auto order = make_order();
    for (int64_t i = 0; i < at_once; ++i)
      sources[static_cast<size_t>(i)] = order((position + i) % kElements);
    benchmark::DoNotOptimize(sources.data());
    benchmark::ClobberMemory();
    if (sources[0] != expected[static_cast<size_t>(position)]) state.SkipWithError("wrong answer");
    position = (position + at_once) % kElements;
  }
  state.SetItemsProcessed(state.iterations() * at_once);
}

template <typename Order>
std::vector<int64_t> AllOf(Order order) {
  std::vector<int64_t> sources;
  for (int64_t i = 0; i < kElements; ++i) sources.push_back(order(i));
  return sources;
}

void BM_Shuffle(benchmark::State& state) {
  const SharedPermutations permutations(nullptr);
  const auto make = [&] {
    return [order = permutations.Get(kElements, kSeed, kEpoch, kStage)](int64_t i) {
      return (*order)(i);
    };
  };
  ReadInChunks(state, state.range(0), make, AllOf(make()));
}
BENCHMARK(BM_Shuffle)->ArgName("at_once")->Arg(1)->Arg(1024);

void BM_Balance(benchmark::State& state) {
  std::vector<int64_t> labels(kElements);
  for (int64_t i = 0; i < kElements; ++i) labels[static_cast<size_t>(i)] = i * 7 % state.range(1);
  const ClassTable table(labels);
  const SharedPermutations permutations(nullptr);
  const auto make = [&] {
    return BalancedOrder(table, permutations, kSeed, kEpoch, kStage, state.range(0));
  };
  ReadInChunks(state, state.range(0), make,
               AllOf(BalancedOrder(table, permutations, kSeed, kEpoch, kStage)));
}
BENCHMARK(BM_Balance)->ArgNames({"at_once", "classes"})->ArgsProduct({{1, 1024}, {10, 10'000}});

}  // namespace
}  // namespace stoker
