// Indices per second out of a shuffle: exact over a billion, in windows, and through a buffer. The
// yardstick is the same without the shuffle.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <numeric>

#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/nodes/from_generator.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/filter.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/sources/range.h"

namespace stoker {
namespace {

constexpr int64_t kBillion = 1'000'000'000;
constexpr int64_t kRows = 4096;
constexpr size_t kMostStateBytes = 1024;

enum class Order { kNone, kExact, kWindow };

Result<Dataset> Indices(Order order) {
  Result<Dataset> range = Source(Range{.stop = kBillion});
  switch (order) {
    case Order::kNone: return range;
    case Order::kExact: return range | Shuffle{};
    case Order::kWindow: return range | Shuffle{.window = 1'000'000, .page = 1000};
  }
  return range;
}

// All in range, and none twice.
bool AreDistinct(std::span<const int64_t> indices) {
  std::vector<int64_t> sorted(indices.begin(), indices.end());
  std::ranges::sort(sorted);
  return sorted.front() >= 0 && sorted.back() < kBillion &&
         std::ranges::adjacent_find(sorted) == sorted.end();
}

// Many rows at a time on one thread: what a worker does for a batch.
template <Order kOrder>
void BM_ReadRows(benchmark::State& state) {
  const Dataset dataset = *Indices(kOrder);
  const auto pass = *Pass::Create(dataset, Runtime::Inline(), {.seed = 1});
  const ReadContext context(*pass, /*epoch=*/0, /*vectorized=*/true);
  std::vector<int64_t> positions(kRows);
  std::iota(positions.begin(), positions.end(), 0);
  for (auto _ : state) {
    const Result<Rows> rows = dataset.node().ReadRows(positions, context);
    if (!rows.ok() || rows->size() != kRows) state.SkipWithError("wrong answer");
    benchmark::DoNotOptimize(rows->columns[0].data());
    for (int64_t& position : positions) position = (position + kRows) % kBillion;
  }
  if (!AreDistinct(dataset.node().ReadRows(positions, context)->columns[0].values<int64_t>()))
    state.SkipWithError("wrong answer");
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(BM_ReadRows<Order::kNone>);
BENCHMARK(BM_ReadRows<Order::kExact>);
BENCHMARK(BM_ReadRows<Order::kWindow>);

// A whole pass with threads, batches of 4096 indices, and what it saves.
template <Order kOrder>
void BM_Pass(benchmark::State& state) {
  const Result<Dataset> dataset = Indices(kOrder) | Batch{.size = kRows};
  const auto pass = *dataset->Open(Runtime::Threaded(static_cast<int>(state.range(0))));
  for (auto _ : state) {
    const Result<std::optional<Element>> batch = pass->Next();
    if (!batch.ok() || !*batch) state.SkipWithError("wrong answer");
    benchmark::DoNotOptimize(batch);
  }
  const size_t bytes = pass->Save()->dump().size();
  if (bytes > kMostStateBytes) state.SkipWithError("the state is too large");
  state.counters["state_bytes"] = static_cast<double>(bytes);
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(BM_Pass<Order::kNone>)->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(BM_Pass<Order::kExact>)->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(BM_Pass<Order::kWindow>)->Arg(1)->Arg(2)->UseRealTime();

// Elements of 8 bytes, read in order, through a buffer of 100,000 (0: without the shuffle). What it
// costs to save there, too.
void BM_Buffer(benchmark::State& state) {
  const Array value = Array::Of(std::vector<int64_t>{7}).Reshaped({});
  Result<Dataset> dataset = FromGenerator({{{"x", DType::kInt64, {}}}}, [value](uint64_t) {
    return [value]() -> Result<std::optional<Element>> { return Element{.arrays = {value}}; };
  });
  if (state.range(0) > 0) dataset = std::move(dataset) | Shuffle{.buffer = state.range(0)};
  const auto pass = *dataset->Open(Runtime::Inline());
  if (!pass->Next().ok()) state.SkipWithError("wrong answer");
  for (auto _ : state) {
    const Result<std::optional<Element>> element = pass->Next();
    if (!element.ok() || !*element) state.SkipWithError("wrong answer");
    benchmark::DoNotOptimize(element);
  }
  state.counters["state_bytes"] = static_cast<double>(pass->Save()->dump().size());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Buffer)->Arg(0)->Arg(100'000);

constexpr int64_t kBuffer = 100'000;

// Reads elements one by one for as long as the benchmark asks for some.
void ReadOneByOne(const Result<Dataset>& dataset, benchmark::State& state) {
  Runtime runtime = Runtime::Threaded(2);
  runtime.memory_budget = int64_t{1} << 30;
  const auto pass = *dataset->Open(runtime);
  if (!pass->Next().ok()) state.SkipWithError("wrong answer");
  for (auto _ : state) {
    const Result<std::optional<Element>> element = pass->Next();
    if (!element.ok() || !*element) state.SkipWithError("wrong answer");
    benchmark::DoNotOptimize(element);
  }
  state.SetItemsProcessed(state.iterations());
}

// Indices that a filter lets all through, so that they come in order, but each can be made again
// from its key.
Result<Dataset> FilteredIndices() {
  return Source(Range{.stop = kBillion}) | Filter{.field = "index", .min = 0};
}

// Elements that arrive as parts of chunks, through a buffer (0: without one).
void BM_BufferOfFiltered(benchmark::State& state) {
  Result<Dataset> dataset = FilteredIndices();
  if (state.range(0) > 0) dataset = std::move(dataset) | Shuffle{.buffer = state.range(0)};
  ReadOneByOne(dataset, state);
}
BENCHMARK(BM_BufferOfFiltered)->Arg(0)->Arg(kBuffer)->UseRealTime();

// The same with values of 784 bytes, as of a small image.
void BM_BufferOfImages(benchmark::State& state) {
  constexpr int64_t kImages = 60'000;
  const Dataset images = *FromArrays({{"image", Array::Allocate(DType::kUInt8, {kImages, 28, 28})},
                                      {"label", Array::Allocate(DType::kInt64, {kImages})}});
  Result<Dataset> dataset =
      Result<Dataset>(images) | Repeat{} | Filter{.field = "label", .except = {-1}};
  if (state.range(0) > 0) dataset = std::move(dataset) | Shuffle{.buffer = state.range(0)};
  ReadOneByOne(dataset, state);
}
BENCHMARK(BM_BufferOfImages)->Arg(0)->Arg(10'000)->UseRealTime();

// A map that runs on threads after the buffer: the buffer's state, some 400 KB, is kept for going
// back to now and then. The yardstick is the same without the buffer.
void BM_MapOfBuffer(benchmark::State& state) {
  const Map next{.function = [](Element& element, Rng&, Scratch& scratch) {
    Array made = scratch.NewArray(DType::kInt64, {});
    made.values<int64_t>()[0] = element.arrays[0].values<int64_t>()[0] + 1;
    element.arrays[0] = std::move(made);
    return OkStatus();
  }};
  Result<Dataset> dataset = FilteredIndices();
  if (state.range(0) > 0) dataset = std::move(dataset) | Shuffle{.buffer = state.range(0)};
  ReadOneByOne(std::move(dataset) | next, state);
}
BENCHMARK(BM_MapOfBuffer)->Arg(0)->Arg(kBuffer)->UseRealTime();

}  // namespace
}  // namespace stoker
