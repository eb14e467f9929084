// Extents of a picture of consecutive channels (CHW).
#pragma once

#include <cstdint>

namespace stoker {

struct ImageShape {
  int64_t channels = 0;
  int64_t height = 0;
  int64_t width = 0;

  int64_t num_values() const { return channels * height * width; }
};

// The sizes that a decoder accepts in a file's header before it allocates anything.
struct ImageLimits {
  int64_t max_pixels = int64_t{1} << 26;  // width times height; 64 Mi pixels are 192 MiB in colour
};

}  // namespace stoker
