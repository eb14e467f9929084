// Borders that go on with what is in the image.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stoker/image/crop.h"

namespace stoker {

// What stands outside an image `abcd`: the modes of numpy.pad, PIL's users and torchvision's.
enum class Border : uint8_t {
  kConstant,   // ...kkk|abcd|kkk...
  kEdge,       // ...aaa|abcd|ddd...
  kReflect,    // ...dcb|abcd|cba...
  kSymmetric,  // ...cba|abcd|dcb...
};

// Which of n >= 1 pixels in a row shows at place i, where that may lie outside. However far outside
// (numpy's rule; torch refuses a border wider than the image). Not for kConstant.
int64_t BorderPixel(Border border, int64_t i, int64_t n);

// Copies the window out of every channel, beyond the image as `border`, which is not kConstant,
// says. The rest is as in CropImage; the image must have pixels, unless the window has none.
void CropOverBorder(const std::byte* in, const ImageShape& shape, size_t value_size,
                    const CropWindow& window, Border border, std::byte* out);

}  // namespace stoker
