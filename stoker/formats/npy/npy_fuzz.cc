// Any bytes are a header or an error, and a header's values begin inside of them or at their end.
#include <cstdint>
#include <cstdlib>

#include "stoker/formats/npy/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  const Result<NpyHeader> header = ParseNpyHeader(std::as_bytes(std::span(data, size)), "input");
  if (!header.ok()) return 0;
  if (header->data > size) std::abort();
  for (const int64_t extent : header->shape) {
    if (extent < 0) std::abort();
  }
  return 0;
}
