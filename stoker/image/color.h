// Colour changes of pictures of bytes, with torchvision's definitions (transforms.v2.functional).
//
// All: `in` is an image of this shape, planes of 1 channel or of 3 (red, green, blue); `out` is as
// large and may be `in` itself. Arithmetic is float32, every operation rounded on its own, so the
// same bytes come out on every CPU; torch fuses some of them, so its results differ by one level
// here and there. Results are cut off to integers, not rounded, as there. Threads: concurrent calls
// are safe.
#pragma once

#include <cstdint>

#include "stoker/image/image_shape.h"

namespace stoker {

// value * factor, clamped; factor >= 0, and 1 changes nothing.
void AdjustBrightness(const uint8_t* in, const ImageShape& shape, float factor, uint8_t* out);

// factor * value + (1 - factor) * (mean of the picture in grey), clamped; factor >= 0.
void AdjustContrast(const uint8_t* in, const ImageShape& shape, double factor, uint8_t* out);

// factor * value + (1 - factor) * (the pixel in grey), clamped; factor >= 0. One channel stays.
void AdjustSaturation(const uint8_t* in, const ImageShape& shape, double factor, uint8_t* out);

// Turns the hue of HSV by `turns`, -0.5..0.5 of a full turn. One channel stays.
void AdjustHue(const uint8_t* in, const ImageShape& shape, float turns, uint8_t* out);

// 0.2989 R + 0.587 G + 0.114 B in all channels. One channel stays.
void ToGray(const uint8_t* in, const ImageShape& shape, uint8_t* out);

// The same of three channels as one plane; `out` may be the first of them.
void ToGrayPlane(const uint8_t* in, const ImageShape& shape, uint8_t* out);

// 255 - value.
void Invert(const uint8_t* in, const ImageShape& shape, uint8_t* out);

// Keeps the upper `bits` bits, 0..8.
void Posterize(const uint8_t* in, const ImageShape& shape, int bits, uint8_t* out);

// Inverts values from `threshold` on.
void Solarize(const uint8_t* in, const ImageShape& shape, float threshold, uint8_t* out);

// Stretches the values of each channel to 0..255.
void AutoContrast(const uint8_t* in, const ImageShape& shape, uint8_t* out);

// Maps the values of each channel so that all become about equally frequent, as Pillow does.
void Equalize(const uint8_t* in, const ImageShape& shape, uint8_t* out);

}  // namespace stoker
