// Decompression of text through an XzSource and a Bzip2Source, against their libraries in one call
// in the same run. Bytes are those that come out.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <map>
#include <string>

#include "stoker/io/bzip2.h"
#include "stoker/io/packed_testing_internal.h"
#include "stoker/io/xz.h"

namespace stoker {
namespace {

struct Input {
  explicit Input(size_t bytes)
      : plain(LogText(bytes)), xz(XzCompress(plain)), bzip2(Bzip2Compress(plain)) {}
  std::string plain, xz, bzip2;
};

const Input& InputOf(int64_t bytes) {
  static std::map<int64_t, Input> inputs;
  return inputs.try_emplace(bytes, static_cast<size_t>(bytes)).first->second;
}

template <MakeDecoder kMake, std::string Input::*kPacked>
void BM_Source(benchmark::State& state) {
  const Input& input = InputOf(state.range(0));
  std::string out(input.plain.size(), '\0');
  for (auto _ : state) {
    const auto source =
        kMake(MakeMemorySource(std::as_bytes(std::span(input.*kPacked)), "input"), nullptr);
    const Result<size_t> got = source->ReadFully(std::as_writable_bytes(std::span(out)));
    std::byte end;
    if (!got.ok() || !source->Read({&end, 1}).ok()) state.SkipWithError("failed");
    benchmark::ClobberMemory();
  }
  if (out != input.plain) state.SkipWithError("wrong answer");
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(out.size()));
}

bool LzmaInOneCall(const Input& input, std::string& out) {
  uint64_t memory = 1 << 28;
  size_t used = 0, got = 0;
  return lzma_stream_buffer_decode(
             &memory, 0, nullptr, reinterpret_cast<const uint8_t*>(input.xz.data()), &used,
             input.xz.size(), reinterpret_cast<uint8_t*>(out.data()), &got, out.size()) == LZMA_OK;
}

bool Bzip2InOneCall(const Input& input, std::string& out) {
  auto got = static_cast<unsigned>(out.size());
  return BZ2_bzBuffToBuffDecompress(out.data(), &got, const_cast<char*>(input.bzip2.data()),
                                    static_cast<unsigned>(input.bzip2.size()), 0, 0) == BZ_OK;
}

template <bool (*kCall)(const Input&, std::string&)>
void BM_InOneCall(benchmark::State& state) {
  const Input& input = InputOf(state.range(0));
  std::string out(input.plain.size(), '\0');
  for (auto _ : state) {
    if (!kCall(input, out)) state.SkipWithError("failed");
    benchmark::ClobberMemory();
  }
  if (out != input.plain) state.SkipWithError("wrong answer");
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(out.size()));
}

#define BOTH_SIZES Arg(100'000)->Arg(8 << 20)->Unit(benchmark::kMillisecond)
BENCHMARK(BM_Source<MakeXzSource, &Input::xz>)->Name("BM_XzSource")->BOTH_SIZES;
BENCHMARK(BM_InOneCall<LzmaInOneCall>)->Name("BM_LiblzmaInOneCall")->BOTH_SIZES;
BENCHMARK(BM_Source<MakeBzip2Source, &Input::bzip2>)->Name("BM_Bzip2Source")->BOTH_SIZES;
BENCHMARK(BM_InOneCall<Bzip2InOneCall>)->Name("BM_Libbz2InOneCall")->BOTH_SIZES;

}  // namespace
}  // namespace stoker
