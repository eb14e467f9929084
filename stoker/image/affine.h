// Rotation, translation, scaling and shear of pictures about their centre.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "stoker/image/image_shape.h"

namespace stoker {

// Where a pixel of the result comes from, in pixels relative to the picture's centre:
//   x' = m[0] x + m[1] y + m[2],  y' = m[3] x + m[4] y + m[5]
using AffineMatrix = std::array<double, 6>;

// What torchvision's F.affine takes: the picture is sheared, then turned clockwise by `degrees`,
// scaled, then moved by whole or part pixels. The same bits on every CPU.
struct AffineChange {
  double degrees = 0;
  double translate_x = 0;  // pixels to the right
  double translate_y = 0;  // pixels down
  double scale = 1;        // not 0
  double shear_x = 0;      // degrees, not +-90
  double shear_y = 0;
  // What the shear and the rotation leave in place, relative to the picture's centre.
  double center_x = 0;
  double center_y = 0;
};
AffineMatrix InverseMatrix(const AffineChange& change);

// F.rotate: counter-clockwise.
AffineMatrix RotationMatrix(double degrees);

struct WarpSize {
  int64_t height = 0;
  int64_t width = 0;
};

// The size of a result that shows all of a picture that the matrix, which moves nothing, turns
// about its centre: F.rotate with expand=True, and PIL's. Parts of a pixel below 1e-4 count as
// none, so quarter turns exchange the sides (torchvision gives tensors a pixel more where one side
// is odd and the other even).
WarpSize WholeSize(const AffineMatrix& matrix, int64_t height, int64_t width);

// Moves pixels by the matrix; pixels that come from outside the picture have the value `fill`.
// Coordinates are computed in double precision, torchvision's in float32, so a pixel whose source
// lies within rounding between two others may differ from it.
//   in          an image of this shape, of values of 1, 2, 4 or 8 bytes
//   fill        one value
//   out         of the size given, its centre where the image's is; must not overlap `in`
// Threads: concurrent calls are safe.
void WarpNearest(const std::byte* in, const ImageShape& shape, size_t value_size,
                 const AffineMatrix& matrix, const std::byte* fill, const WarpSize& size,
                 std::byte* out);

// The mean of the four pixels around, by distance; those outside count as `fill` (torchvision with
// a fill darkens them twice at edges). Bytes are rounded to nearest, halves up.
void WarpBilinear(const uint8_t* in, const ImageShape& shape, const AffineMatrix& matrix,
                  uint8_t fill, const WarpSize& size, uint8_t* out);
void WarpBilinear(const float* in, const ImageShape& shape, const AffineMatrix& matrix, float fill,
                  const WarpSize& size, float* out);

}  // namespace stoker
