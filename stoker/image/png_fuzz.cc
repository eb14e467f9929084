#include "stoker/image/png.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)stoker::DecodePng({reinterpret_cast<const std::byte*>(data), size}, "fuzz",
                          {.max_pixels = 1 << 20})
      .ok();
  return 0;
}
