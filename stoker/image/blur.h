// Blurring and sharpening, with torchvision's definitions (transforms.v2.functional).
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/image/image_shape.h"

namespace stoker {

// Rows that calls reuse. Not thread-safe: one for each thread.
struct BlurScratch {
  std::vector<float> padded, rows;
};

// Gaussian blur: weights exp(-d^2 / (2 sigma^2)) over an odd number of pixels, divided by their
// sum; beyond an edge the picture is mirrored about the edge's pixels. Along rows, then along
// columns, in float32 rounded at each operation, so the same bytes on every CPU; within one level
// of torchvision, which sums all products at once.
//   in      an image of this shape;  out  as large, may be `in` itself
//   height, width    of the kernel, odd;  sigma  > 0, in pixels
// Threads: concurrent calls with different scratch are safe.
void BlurGaussian(const uint8_t* in, const ImageShape& shape, int64_t height, int64_t width,
                  double sigma, BlurScratch& scratch, uint8_t* out);
void BlurGaussian(const float* in, const ImageShape& shape, int64_t height, int64_t width,
                  double sigma, BlurScratch& scratch, float* out);

// factor * value + (1 - factor) * (the mean of 3 x 3 pixels, the middle one weighing five times),
// clamped and cut off; factor >= 0. The outermost pixels stay, and so do pictures of two rows or
// columns. `out` must not overlap `in`.
void AdjustSharpness(const uint8_t* in, const ImageShape& shape, double factor, uint8_t* out);

}  // namespace stoker
