// Decompression of text through a ZstdSource, against libzstd in one call in the same run. Bytes
// are those that come out.
#include <benchmark/benchmark.h>
#include <zstd.h>

#include <cstdint>
#include <map>
#include <string>

#include "stoker/io/zstd.h"

namespace stoker {
namespace {

// Lines of a log: words and numbers, packed by a factor of about five.
struct Input {
  explicit Input(size_t bytes) {
    uint32_t state = 1;
    while (plain.size() < bytes) {
      state = state * 1664525 + 1013904223;
      plain +=
          "step " + std::to_string(state >> 20) + " loss 0." + std::to_string(state >> 12) + "\n";
    }
    plain.resize(bytes);
    packed.resize(ZSTD_compressBound(bytes));
    packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 3));
  }
  std::string plain, packed;
};

const Input& InputOf(int64_t bytes) {
  static std::map<int64_t, Input> inputs;
  return inputs.try_emplace(bytes, static_cast<size_t>(bytes)).first->second;
}

void Finish(benchmark::State& state, const Input& input, const std::string& out) {
  if (out != input.plain) state.SkipWithError("wrong answer");
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(out.size()));
}

void BM_ZstdSource(benchmark::State& state) {
  const Input& input = InputOf(state.range(0));
  std::string out(input.plain.size(), '\0');
  for (auto _ : state) {
    const auto source =
        MakeZstdSource(MakeMemorySource(std::as_bytes(std::span(input.packed)), "input"));
    const Result<size_t> got = source->ReadFully(std::as_writable_bytes(std::span(out)));
    std::byte end;
    if (!got.ok() || !source->Read({&end, 1}).ok()) state.SkipWithError("failed");
    benchmark::ClobberMemory();
  }
  Finish(state, input, out);
}

void BM_LibzstdInOneCall(benchmark::State& state) {
  const Input& input = InputOf(state.range(0));
  std::string out(input.plain.size(), '\0');
  for (auto _ : state) {
    const size_t got =
        ZSTD_decompress(out.data(), out.size(), input.packed.data(), input.packed.size());
    if (ZSTD_isError(got)) state.SkipWithError("failed");
    benchmark::ClobberMemory();
  }
  Finish(state, input, out);
}

BENCHMARK(BM_ZstdSource)->Arg(100'000)->Arg(32 << 20)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_LibzstdInOneCall)->Arg(100'000)->Arg(32 << 20)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stoker
