// The plain twins of the colour changes.
#include <algorithm>

#include "stoker/image/color_kernels_internal.h"

namespace stoker {
namespace {

uint8_t CutOffPlain(float value) { return static_cast<uint8_t>(std::clamp(value, 0.0f, 255.0f)); }

// A whole number, as bytes have it.
uint8_t GrayOf(uint8_t r, uint8_t g, uint8_t b) {
  return static_cast<uint8_t>(static_cast<float>(r) * 0.2989f + 0.587f * static_cast<float>(g) +
                              0.114f * static_cast<float>(b));
}

struct Hsv {
  float h, s, v;  // all 0..1
};

// Smith, "Color gamut transform pairs" (1978), in the form of Pillow's Convert.c.
Hsv HsvOf(float r, float g, float b) {
  const float most = std::max({r, g, b}), range = most - std::min({r, g, b});
  if (range == 0) return {0, 0, most};
  const float rc = (most - r) / range, gc = (most - g) / range, bc = (most - b) / range;
  float h = 0;
  if (most == r) {
    h = bc - gc;
  } else if (most == g) {
    h = rc + 2.0f - bc;
  } else {
    h = gc + 4.0f - rc;
  }
  h = h * (1.0f / 6) + 1.0f;
  return {h >= 1 ? h - 1 : h, range / most, most};
}

uint8_t ByteOf(float share) {
  return static_cast<uint8_t>(std::clamp(share, 0.0f, 1.0f) * (256.0f - 1e-3f));
}

void SetFromHsv(const Hsv& hsv, uint8_t& r, uint8_t& g, uint8_t& b) {
  const float sixths = hsv.h * 6;
  const int sector = static_cast<int>(sixths);
  const float rest = (sixths - static_cast<float>(sector)) * hsv.s;
  const uint8_t v = ByteOf(hsv.v), p = ByteOf((1 - hsv.s) * hsv.v);
  const uint8_t q = ByteOf((1 - rest) * hsv.v), t = ByteOf((rest + (1 - hsv.s)) * hsv.v);
  switch (sector) {
    case 0: r = v, g = t, b = p; break;
    case 1: r = q, g = v, b = p; break;
    case 2: r = p, g = v, b = t; break;
    case 3: r = p, g = q, b = v; break;
    case 4: r = t, g = p, b = v; break;
    default: r = v, g = p, b = q; break;
  }
}

}  // namespace

void ScaleBytesReference(const uint8_t* in, int64_t n, float factor, float offset, uint8_t* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = CutOffPlain(static_cast<float>(in[i]) * factor + offset);
}

void GrayPixelsReference(const ConstColorPlanes& in, int64_t n, uint8_t* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = GrayOf(in.r[i], in.g[i], in.b[i]);
}

void SaturatePixelsReference(const ConstColorPlanes& in, int64_t n, float first, float second,
                             const ColorPlanes& out) {
  for (int64_t i = 0; i < n; ++i) {
    const float gray = GrayOf(in.r[i], in.g[i], in.b[i]);
    out.r[i] = CutOffPlain(static_cast<float>(in.r[i]) * first + second * gray);
    out.g[i] = CutOffPlain(static_cast<float>(in.g[i]) * first + second * gray);
    out.b[i] = CutOffPlain(static_cast<float>(in.b[i]) * first + second * gray);
  }
}

void TurnHuesReference(const ConstColorPlanes& in, int64_t n, float turns, const ColorPlanes& out) {
  constexpr float kUnit = 1.0f / 255;
  for (int64_t i = 0; i < n; ++i) {
    Hsv hsv = HsvOf(static_cast<float>(in.r[i]) * kUnit, static_cast<float>(in.g[i]) * kUnit,
                    static_cast<float>(in.b[i]) * kUnit);
    hsv.h += turns;
    if (hsv.h < 0) hsv.h += 1;
    if (hsv.h >= 1) hsv.h -= 1;
    SetFromHsv(hsv, out.r[i], out.g[i], out.b[i]);
  }
}

}  // namespace stoker
