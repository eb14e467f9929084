// Fills a rectangle of an image.
#pragma once

#include <cstddef>
#include <span>

#include "stoker/base/random.h"
#include "stoker/image/crop.h"

namespace stoker {

// Overwrites the pixels of `window`, which lies inside, in every channel.
//   image       an image of this shape, of values of 1, 2, 4 or 8 bytes
//   values      one value, or consecutive values, one for each channel
// Threads: concurrent calls on different images are safe.
void EraseWindow(std::byte* image, const ImageShape& shape, size_t value_size,
                 const CropWindow& window, std::span<const std::byte> values);

// The same with normal numbers of mean 0 and deviation 1, drawn in the order in which they are
// written: one for each channel, or for each of its pixels.
void EraseWindowWithNoise(float* image, const ImageShape& shape, const CropWindow& window,
                          bool each_pixel, Rng& rng);

}  // namespace stoker
