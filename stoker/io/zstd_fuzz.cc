// Any bytes decompress to what libzstd makes of them in one call, or are an error.
#include <zstd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "stoker/io/fuzzing_internal.h"
#include "stoker/io/zstd.h"

namespace {

bool Decompress(const uint8_t* data, size_t size, size_t piece, std::string& out) {
  using namespace stoker;
  const auto source =
      MakeZstdSource(MakeMemorySource(std::as_bytes(std::span(data, size)), "input"));
  return ReadInPieces(*source, piece, out);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string small, large, expected(stoker::kMaxFuzzOutput, '\0');
  const bool small_ok = Decompress(data, size, 33, small);
  const bool large_ok = Decompress(data, size, 1 << 17, large);
  if (small_ok != large_ok || (small_ok && small != large)) std::abort();
  const size_t got = ZSTD_decompress(expected.data(), expected.size(), data, size);
  if (large_ok && !ZSTD_isError(got) && size > 0) {
    expected.resize(got);
    if (large != expected) std::abort();
  }
  return 0;
}
