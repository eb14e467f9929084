// Any bytes decompress to what libzstd makes of them in one call, or are an error.
#include <zstd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "stoker/io/fuzzing_internal.h"
#include "stoker/io/zstd.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string large, expected(stoker::kMaxFuzzOutput, '\0');
  const bool whole =
      stoker::DecompressesAlikeInAnyPieces(stoker::MakeZstdSource, data, size, large);
  const size_t got = ZSTD_decompress(expected.data(), expected.size(), data, size);
  if (whole && !ZSTD_isError(got) && size > 0) {
    expected.resize(got);
    if (large != expected) std::abort();
  }
  return 0;
}
