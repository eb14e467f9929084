// Decompression of pictures of clothes, as gzip -6 packs them, against zlib in the same run. Bytes
// are those that come out.
#include <benchmark/benchmark.h>
#include <zlib.h>

#include <cstdint>
#include <map>
#include <vector>

#include "stoker/io/gzip.h"

namespace stoker {
namespace {

// 28x28 pictures of a noisy blob on black: about half the bytes are zero, and it packs by a factor
// of about two, as Fashion-MNIST does.
std::vector<std::byte> Pictures(size_t bytes) {
  std::vector<std::byte> out(bytes);
  uint32_t state = 1;
  for (size_t i = 0; i < bytes; ++i) {
    const int x = static_cast<int>(i % 28) - 14, y = static_cast<int>(i / 28 % 28) - 14;
    state = state * 1664525 + 1013904223;
    if (x * x + y * y < 130) out[i] = static_cast<std::byte>(150 + (state >> 26));
  }
  return out;
}

struct Input {
  explicit Input(size_t bytes) : plain(Pictures(bytes)), compressed(*GzipCompress(plain)) {}
  std::vector<std::byte> plain, compressed;
};

const Input& InputOf(int64_t bytes) {
  static std::map<int64_t, Input> inputs;
  return inputs.try_emplace(bytes, static_cast<size_t>(bytes)).first->second;
}

void Finish(benchmark::State& state, const Input& input, const std::vector<std::byte>& out) {
  if (out != input.plain) state.SkipWithError("wrong answer");
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(out.size()));
}

void BM_GzipSource(benchmark::State& state) {
  const Input& input = InputOf(state.range(0));
  std::vector<std::byte> out(input.plain.size());
  for (auto _ : state) {
    const auto source = MakeGzipSource(MakeMemorySource(input.compressed, "input"));
    const Result<size_t> got = source->ReadFully(out);
    std::byte end;
    if (!got.ok() || !source->Read({&end, 1}).ok()) state.SkipWithError("failed");
    benchmark::ClobberMemory();
  }
  Finish(state, input, out);
}

void BM_Zlib(benchmark::State& state) {
  const Input& input = InputOf(state.range(0));
  std::vector<std::byte> out(input.plain.size());
  for (auto _ : state) {
    z_stream stream{};
    inflateInit2(&stream, 15 + 16);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(input.compressed.data()));
    stream.avail_in = static_cast<uInt>(input.compressed.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    if (inflate(&stream, Z_FINISH) != Z_STREAM_END) state.SkipWithError("failed");
    inflateEnd(&stream);
    benchmark::ClobberMemory();
  }
  Finish(state, input, out);
}

// A label file of MNIST's size; a test set's images; a training set's.
BENCHMARK(BM_GzipSource)
    ->Arg(60'000)
    ->Arg(7'840'000)
    ->Arg(47'040'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Zlib)->Arg(60'000)->Arg(7'840'000)->Arg(47'040'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stoker
