// Converts a row of a picture for encoders.
#pragma once

#include <cstdint>
#include <cstring>

#include "stoker/image/pixel_view.h"

namespace stoker {

// Copies row `y`, 0 <= y < height, to `out`: width pixels with interleaved channels.
inline void InterleaveRow(const PixelView& pixels, int64_t y, uint8_t* out) {
  const uint8_t* const row = pixels.data + y * pixels.row_stride;
  if (!pixels.planar() || pixels.channels == 1) {
    std::memcpy(out, row, static_cast<size_t>(pixels.width * pixels.channels));
    return;
  }
  for (int64_t c = 0; c < pixels.channels; ++c) {
    const uint8_t* const plane = row + c * pixels.plane_stride;
    for (int64_t x = 0; x < pixels.width; ++x) out[x * pixels.channels + c] = plane[x];
  }
}

}  // namespace stoker
