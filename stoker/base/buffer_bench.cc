// What memory for a batch costs, filled once: a new block each time, and a block from a pool.
#include <benchmark/benchmark.h>

#include <cstring>

#include "stoker/base/buffer.h"

namespace stoker {
namespace {

template <typename Get>
void FillBlocks(benchmark::State& state, Get get) {
  const auto size = static_cast<size_t>(state.range(0));
  unsigned char value = 0;
  for (auto _ : state) {
    const Buffer buffer = get(size);
    std::memset(buffer.data(), ++value, size);
    benchmark::DoNotOptimize(buffer.data());
    benchmark::ClobberMemory();
    if (static_cast<unsigned char>(buffer.data()[size - 1]) != value) {
      state.SkipWithError("wrong answer");
    }
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void BM_NewBlock(benchmark::State& state) {
  FillBlocks(state, [](size_t size) { return Buffer::Allocate(size); });
}

void BM_PooledBlock(benchmark::State& state) {
  BufferPool pool(nullptr, /*max_idle_bytes=*/int64_t{1} << 30);
  FillBlocks(state, [&](size_t size) { return pool.Get(size); });
}

// 128 small grey images as float; 128 and 256 colour images of 224x224 as bytes; 128 of them as
// float.
BENCHMARK(BM_NewBlock)->Arg(401'408)->Arg(19'267'584)->Arg(38'535'168)->Arg(77'070'336);
BENCHMARK(BM_PooledBlock)->Arg(401'408)->Arg(19'267'584)->Arg(38'535'168)->Arg(77'070'336);

}  // namespace
}  // namespace stoker
