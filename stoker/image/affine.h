// Rotation, translation, scaling and shear of pictures about their centre.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "stoker/image/image_shape.h"

namespace stoker {

// Maps a pixel of the result to its source, in pixels relative to the picture's centre:
//   x' = m[0] x + m[1] y + m[2],  y' = m[3] x + m[4] y + m[5]
using AffineMatrix = std::array<double, 6>;

// The parameters of torchvision's F.affine: the picture is sheared, rotated clockwise by `degrees`,
// scaled, then translated by pixels, whole or not. The same bits on every CPU.
struct AffineChange {
  double degrees = 0;
  double translate_x = 0;  // pixels to the right
  double translate_y = 0;  // pixels down
  double scale = 1;        // not 0
  double shear_x = 0;      // degrees, not +-90
  double shear_y = 0;
  // The fixed point of the shear and the rotation, relative to the picture's centre.
  double center_x = 0;
  double center_y = 0;
};
AffineMatrix InverseMatrix(const AffineChange& change);

// Returns the matrix of F.rotate: counter-clockwise.
AffineMatrix RotationMatrix(double degrees);

struct WarpSize {
  int64_t height = 0;
  int64_t width = 0;
};

// Returns the size of a result that shows all of a picture rotated by the matrix, which must not
// translate: as F.rotate with expand=True, and PIL. Ignores parts of a pixel below 1e-4, so quarter
// turns exchange the sides (torchvision gives tensors a pixel more if one side is odd and the other
// even).
WarpSize WholeSize(const AffineMatrix& matrix, int64_t height, int64_t width);

// Transforms a picture by the matrix; pixels from outside the picture have the value `fill`.
// Coordinates are computed in double precision, torchvision's in float32, so a pixel whose source
// lies within rounding between two others may differ from it.
//   in          an image of this shape, of values of 1, 2, 4 or 8 bytes
//   fill        one value
//   out         of the size given, its centre where the image's is; must not overlap `in`
// Threads: concurrent calls are safe.
void WarpNearest(const std::byte* in, const ImageShape& shape, size_t value_size,
                 const AffineMatrix& matrix, const std::byte* fill, const WarpSize& size,
                 std::byte* out);

// The same with bilinear interpolation of four pixels; those outside count as `fill` (torchvision
// with a fill darkens them twice at edges). Bytes are rounded to nearest, halves up.
void WarpBilinear(const uint8_t* in, const ImageShape& shape, const AffineMatrix& matrix,
                  uint8_t fill, const WarpSize& size, uint8_t* out);
void WarpBilinear(const float* in, const ImageShape& shape, const AffineMatrix& matrix, float fill,
                  const WarpSize& size, float* out);

}  // namespace stoker
