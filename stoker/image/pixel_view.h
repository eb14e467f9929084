// Pictures of bytes, the resampler's input: interleaved as decoders write them, or in planes.
#pragma once

#include <cstdint>

namespace stoker {

// Borrowed pixels, uint8, 1 to 4 channels. Value (y, x, c) is at
//   data[y * row_stride + x * channels + c]              if plane_stride is 0 (interleaved, HWC)
//   data[y * row_stride + x + c *
//   plane_stride] otherwise (planes, CHW)
struct PixelView {
  const uint8_t* data = nullptr;
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;
  int64_t row_stride = 0;  // bytes from one row to the next
  int64_t plane_stride = 0;

  bool planar() const { return plane_stride != 0 || channels == 1; }
  // Returns the number of planes; interleaved pixels count as one.
  int64_t num_planes() const { return planar() ? channels : 1; }
  int64_t values_in_row() const { return planar() ? width : width * channels; }
};

// The bytes of a pixel between the resampler and the store: its channels first; the rest are
// unspecified.
inline constexpr int64_t kPixelBytes = 4;

}  // namespace stoker
