// Mirroring of images.
#pragma once

#include <cstddef>

#include "stoker/image/image_shape.h"

namespace stoker {

// Left becomes right, in every channel.
//   in   an image of this shape, of values of 1, 2, 4 or 8 bytes
//   out  an image of the same shape; may be `in` itself, must not overlap it otherwise
// Threads: concurrent calls are safe.
void FlipHorizontally(const std::byte* in, const ImageShape& shape, size_t value_size,
                      std::byte* out);

// Top becomes bottom; otherwise as above.
void FlipVertically(const std::byte* in, const ImageShape& shape, size_t value_size,
                    std::byte* out);

}  // namespace stoker
