// Any bytes decompress to what libbz2 makes of them in one call, or are an error.
#include <bzlib.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "stoker/io/bzip2.h"
#include "stoker/io/fuzzing_internal.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string large, expected(stoker::kMaxFuzzOutput, '\0');
  const bool large_ok =
      stoker::DecompressesAlikeInAnyPieces(stoker::MakeBzip2Source, data, size, large);
  auto got = static_cast<unsigned>(expected.size());
  // It takes the first stream only.
  const int code = BZ2_bzBuffToBuffDecompress(expected.data(), &got,
                                              reinterpret_cast<char*>(const_cast<uint8_t*>(data)),
                                              static_cast<unsigned>(size), 0, 0);
  const bool whole = code == BZ_OK && large.size() <= got;
  if (large_ok && whole && size > 0) {
    expected.resize(got);
    if (large != expected) std::abort();
  }
  return 0;
}
