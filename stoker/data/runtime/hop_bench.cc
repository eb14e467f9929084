// Tiny records through the threaded runtime: what a hop between threads costs each of them, and
// what a function called for each record does.
#include <benchmark/benchmark.h>

#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"

namespace stoker {
namespace {

constexpr int64_t kRecords = 1 << 16;
constexpr int64_t kBytes = 64;

Result<Dataset> Records() {
  Array records = Array::Allocate(DType::kUInt8, {kRecords, kBytes});
  for (int64_t i = 0; i < kRecords * kBytes; ++i) {
    records.values<uint8_t>()[static_cast<size_t>(i)] = static_cast<uint8_t>(i / kBytes);
  }
  return FromArrays({{"x", records}});
}

Map CountUp() {
  return {.function = [](Element& element, Rng&, Scratch& scratch) {
    Array out = scratch.NewArray(DType::kUInt8, {kBytes});
    for (size_t i = 0; i < kBytes; ++i) {
      out.values<uint8_t>()[i] = static_cast<uint8_t>(element.arrays[0].values<uint8_t>()[i] + 1);
    }
    element.arrays[0] = std::move(out);
    return OkStatus();
  }};
}

MapRows CountUpRows() {
  return {.function = [](Rows& rows, const MapRows::RowRng&, Scratch& scratch) {
    const auto from = rows.columns[0].values<uint8_t>();
    Array out = scratch.NewArray(DType::kUInt8, rows.columns[0].shape());
    const auto to = out.values<uint8_t>();
    for (size_t i = 0; i < from.size(); ++i) to[i] = static_cast<uint8_t>(from[i] + 1);
    rows.columns[0] = std::move(out);
    return OkStatus();
  }};
}

// Reads element after element; the answer is checked on each.
void ReadElements(benchmark::State& state, const Result<Dataset>& dataset) {
  const auto elements = dataset->Open(Runtime::Threaded(static_cast<int>(state.range(0))));
  int64_t next = 0;
  for (auto _ : state) {
    const auto element = (*elements)->Next();
    if (!element.ok() ||
        (*element)->arrays[0].values<uint8_t>()[0] != static_cast<uint8_t>(next + 1))
      return state.SkipWithError("wrong answer");
    next = (next + 1) % kRecords;
  }
  state.SetItemsProcessed(state.iterations());
}

// The same in blocks of rows.
void ReadBlocks(benchmark::State& state, const Result<Dataset>& dataset) {
  const auto elements = dataset->Open(Runtime::Threaded(static_cast<int>(state.range(0))));
  int64_t next = 0, count = 0;
  for (auto _ : state) {
    const auto rows = (*elements)->NextRows(1024);
    if (!rows.ok() || !*rows) return state.SkipWithError("no rows");
    for (const uint8_t* x = (*rows)->columns[0].values<uint8_t>().data();
         const auto& key : (*rows)->keys) {
      if (*x != static_cast<uint8_t>(next + 1) || key.index != next)
        return state.SkipWithError("wrong answer");
      x += kBytes;
      next = (next + 1) % kRecords;
    }
    count += (*rows)->size();
  }
  state.SetItemsProcessed(count);
}

BENCHMARK_CAPTURE(ReadElements, map, Records() | CountUp() | Repeat{} | Prefetch{})
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime();
BENCHMARK_CAPTURE(ReadElements, map_rows, Records() | CountUpRows() | Repeat{} | Prefetch{})
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime();
BENCHMARK_CAPTURE(ReadBlocks, map, Records() | CountUp() | Repeat{} | Prefetch{})
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime();
BENCHMARK_CAPTURE(ReadBlocks, map_rows, Records() | CountUpRows() | Repeat{} | Prefetch{})
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime();

}  // namespace
}  // namespace stoker
