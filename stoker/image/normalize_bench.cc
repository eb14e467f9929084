// Bytes written and read per second by the kernel and by its plain twin.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "stoker/base/instruction_set.h"
#include "stoker/base/random.h"
#include "stoker/image/normalize.h"

namespace stoker {
namespace {

constexpr ShiftScale kConstants{.shift = 72.93f, .scale = 0.011109f};

template <typename T>
std::vector<T> MixedPixels(size_t n) {
  std::vector<T> pixels(n);
  for (size_t i = 0; i < n; ++i) pixels[i] = static_cast<T>(uint32_t(i) * 2654435761u >> 24);
  return pixels;
}

template <typename T>
using KernelOf = void(const T*, size_t, ShiftScale, float*);

template <typename T, KernelOf<T>* Kernel>
void BM_Normalize(benchmark::State& state) {
  const std::vector<T> in = MixedPixels<T>(static_cast<size_t>(state.range(0)));
  std::vector<float> out(in.size()), want(in.size());
  for (auto _ : state) {
    Kernel(in.data(), in.size(), kConstants, out.data());
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  NormalizePlaneReference(in.data(), in.size(), kConstants, want.data());
  if (out != want) state.SkipWithError("wrong answer");
  constexpr KernelOf<T>* kReference = NormalizePlaneReference;
  state.SetLabel(Kernel == kReference ? "plain" : std::string(InstructionSet()));
  state.SetBytesProcessed(state.iterations() * state.range(0) *
                          static_cast<int64_t>(sizeof(T) + sizeof(float)));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

// One 28x28 image; 128 of them (in L2); from and to memory.
#define STOKER_SIZES ->Arg(784)->Arg(128 * 784)->Arg(16 << 20)
BENCHMARK(BM_Normalize<uint8_t, NormalizePlane>) STOKER_SIZES;
BENCHMARK(BM_Normalize<uint8_t, NormalizePlaneReference>) STOKER_SIZES;
BENCHMARK(BM_Normalize<float, NormalizePlane>) STOKER_SIZES;
BENCHMARK(BM_Normalize<float, NormalizePlaneReference>) STOKER_SIZES;

}  // namespace
}  // namespace stoker
