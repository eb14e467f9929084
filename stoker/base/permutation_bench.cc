// Positions of a shuffled order per second: computed on the fly against looked up in a stored,
// shuffled vector.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "stoker/base/permutation.h"

namespace stoker {
namespace {

constexpr int64_t kChunk = 4096;  // positions an iteration

// The first chunk must map back to itself and hold no index twice.
bool IsRightOn(const IndexPermutation& permutation, int64_t count) {
  std::vector<int64_t> seen;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = permutation(i);
    if (index < 0 || index >= permutation.size() || permutation.Inverse(index) != i) return false;
    seen.push_back(index);
  }
  std::sort(seen.begin(), seen.end());
  return std::adjacent_find(seen.begin(), seen.end()) == seen.end();
}

void BM_IndexPermutation(benchmark::State& state) {
  const int64_t n = state.range(0);
  const IndexPermutation permutation(n, /*seed=*/1, /*epoch=*/2, /*stage=*/3);
  int64_t first = 0;
  for (auto _ : state) {
    int64_t sum = 0;
    for (int64_t i = first; i < first + kChunk; ++i) sum += permutation(i);
    benchmark::DoNotOptimize(sum);
    first = first + 2 * kChunk <= n ? first + kChunk : 0;
  }
  if (!IsRightOn(permutation, std::min(n, kChunk))) state.SkipWithError("wrong answer");
  state.SetItemsProcessed(state.iterations() * kChunk);
}
BENCHMARK(BM_IndexPermutation)->Arg(60'000)->Arg(65'537)->Arg(1'281'167)->Arg(1'000'000'000);

// What an epoch pays before its first element where the order is stored.
void BM_MakeIndexPermutation(benchmark::State& state) {
  const int64_t n = state.range(0);
  uint64_t epoch = 0;
  for (auto _ : state) {
    const IndexPermutation permutation(n, /*seed=*/1, ++epoch, /*stage=*/3);
    benchmark::DoNotOptimize(permutation(n / 2));
  }
  const IndexPermutation last(n, /*seed=*/1, epoch, /*stage=*/3);
  if (!IsRightOn(last, std::min<int64_t>(n, 100))) state.SkipWithError("wrong answer");
  state.SetItemsProcessed(state.iterations() * n);
}
BENCHMARK(BM_MakeIndexPermutation)->Arg(16)->Arg(1000)->Arg(60'000);

void BM_IndexPermutationMap(benchmark::State& state) {
  const int64_t n = state.range(0);
  const IndexPermutation permutation(n, /*seed=*/1, /*epoch=*/2, /*stage=*/3);
  std::vector<int64_t> positions(static_cast<size_t>(kChunk));
  int64_t first = 0;
  for (auto _ : state) {
    std::iota(positions.begin(), positions.end(), first);
    permutation.Map(positions);
    benchmark::DoNotOptimize(positions.data());
    benchmark::ClobberMemory();
    if (positions.front() != permutation(first)) state.SkipWithError("wrong answer");
    first = first + 2 * kChunk <= n ? first + kChunk : 0;
  }
  state.SetItemsProcessed(state.iterations() * kChunk);
}
BENCHMARK(BM_IndexPermutationMap)->Arg(60'000)->Arg(65'537)->Arg(1'281'167)->Arg(1'000'000'000);

// What the permutation replaces: 8 bytes an index, and a shuffle before the first one.
void BM_StoredVector(benchmark::State& state) {
  const int64_t n = state.range(0);
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
  int64_t first = 0;
  for (auto _ : state) {
    int64_t sum = 0;
    for (int64_t i = first; i < first + kChunk; ++i) sum += order[static_cast<size_t>(i)];
    benchmark::DoNotOptimize(sum);
    first = first + 2 * kChunk <= n ? first + kChunk : 0;
  }
  if (std::accumulate(order.begin(), order.end(), int64_t{0}) != n * (n - 1) / 2) {
    state.SkipWithError("wrong answer");
  }
  state.SetItemsProcessed(state.iterations() * kChunk);
}
BENCHMARK(BM_StoredVector)->Arg(60'000)->Arg(1'281'167);

// The shuffle itself, which a stored order pays at the start of every epoch.
void BM_ShuffleStoredVector(benchmark::State& state) {
  std::vector<int64_t> order(static_cast<size_t>(state.range(0)));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 generator(1);
  for (auto _ : state) {
    std::shuffle(order.begin(), order.end(), generator);
    benchmark::DoNotOptimize(order.data());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_ShuffleStoredVector)->Arg(60'000)->Arg(1'281'167);

}  // namespace
}  // namespace stoker
