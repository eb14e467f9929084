// Any bytes decompress to what liblzma makes of them in one call, or are an error.
#include <lzma.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "stoker/io/fuzzing_internal.h"
#include "stoker/io/xz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string large, expected(stoker::kMaxFuzzOutput, '\0');
  const bool large_ok =
      stoker::DecompressesAlikeInAnyPieces(stoker::MakeXzSource, data, size, large);
  uint64_t memory = 1 << 28;
  size_t used = 0, got = 0;
  const lzma_ret code =
      lzma_stream_buffer_decode(&memory, LZMA_CONCATENATED, nullptr, data, &used, size,
                                reinterpret_cast<uint8_t*>(expected.data()), &got, expected.size());
  const bool whole = code == LZMA_OK && used == size;
  if (large_ok && whole && size > 0) {
    expected.resize(got);
    if (large != expected) std::abort();
  }
  return 0;
}
