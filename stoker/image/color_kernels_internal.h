// The kernels of colour changes, with vector instructions, and their plain twins. All take n values
// from each plane; `out` may be `in`, plane by plane. The same bytes on every CPU.
#pragma once

#include <cstdint>

namespace stoker {

// The planes of a picture in red, green and blue.
struct ConstColorPlanes {
  const uint8_t *r, *g, *b;
};
struct ColorPlanes {
  uint8_t *r, *g, *b;
};

// out = in * factor + offset, clamped to 0..255 and cut off.
void ScaleBytes(const uint8_t* in, int64_t n, float factor, float offset, uint8_t* out);
// 0.2989 R + 0.587 G + 0.114 B, cut off.
void GrayPixels(const ConstColorPlanes& in, int64_t n, uint8_t* out);
// value * first + second * grey, clamped and cut off.
void SaturatePixels(const ConstColorPlanes& in, int64_t n, float first, float second,
                    const ColorPlanes& out);
// The hue of HSV (0..1), plus `turns`, modulo 1; |turns| <= 1.
void TurnHues(const ConstColorPlanes& in, int64_t n, float turns, const ColorPlanes& out);

void ScaleBytesReference(const uint8_t* in, int64_t n, float factor, float offset, uint8_t* out);
void GrayPixelsReference(const ConstColorPlanes& in, int64_t n, uint8_t* out);
void SaturatePixelsReference(const ConstColorPlanes& in, int64_t n, float first, float second,
                             const ColorPlanes& out);
void TurnHuesReference(const ConstColorPlanes& in, int64_t n, float turns, const ColorPlanes& out);

}  // namespace stoker
