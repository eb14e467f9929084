// Crops a window out of an image, with a border where the window extends beyond it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/image/image_shape.h"

namespace stoker {

// A rectangle in pixels of the image; y and x may be negative, and the rectangle may lie partly or
// wholly outside.
struct CropWindow {
  int64_t y = 0;
  int64_t x = 0;
  int64_t height = 0;
  int64_t width = 0;
};

// Copies the window out of every channel; pixels outside the image get `fill`.
//   in          an image of this shape, of values of 1, 2, 4 or 8 bytes
//   fill        one value
//   out         channels * window.height * window.width values; must not overlap `in`
// Threads: concurrent calls are safe.
void CropImage(const std::byte* in, const ImageShape& shape, size_t value_size,
               const CropWindow& window, const std::byte* fill, std::byte* out);

}  // namespace stoker
