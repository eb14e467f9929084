// Borders that continue the image.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/image/crop.h"

namespace stoker {

// The pixels outside an image `abcd`; the modes of numpy.pad and torchvision.
enum class Border : uint8_t {
  kConstant,   // ...kkk|abcd|kkk...
  kEdge,       // ...aaa|abcd|ddd...
  kReflect,    // ...dcb|abcd|cba...
  kSymmetric,  // ...cba|abcd|dcb...
};

// Returns which of n >= 1 pixels in a row appears at place i, inside or any distance outside
// (numpy's rule; torch refuses a border wider than the image). REQUIRES: not kConstant.
int64_t BorderPixel(Border border, int64_t i, int64_t n);

// Copies the window out of every channel and extends the image by `border`, which is not kConstant.
// The rest is as in CropImage; the image must have pixels, unless the window has none.
void CropOverBorder(const std::byte* in, const ImageShape& shape, size_t value_size,
                    const CropWindow& window, Border border, std::byte* out);

}  // namespace stoker
