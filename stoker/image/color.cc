#include "stoker/image/color.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace stoker {
namespace {

// What becomes of each value.
using ByteTable = std::array<uint8_t, 256>;

template <typename Function>
ByteTable TableOf(const Function& function) {
  ByteTable table;
  for (int value = 0; value < 256; ++value)
    table[static_cast<size_t>(value)] = static_cast<uint8_t>(function(value));
  return table;
}

void ApplyTable(const uint8_t* in, int64_t n, const ByteTable& table, uint8_t* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = table[in[i]];
}

uint8_t CutOff(float value) { return static_cast<uint8_t>(std::clamp(value, 0.0f, 255.0f)); }

int64_t PlaneSize(const ImageShape& shape) { return shape.height * shape.width; }

// A whole number, as bytes have it.
uint8_t GrayOf(uint8_t r, uint8_t g, uint8_t b) {
  return static_cast<uint8_t>(static_cast<float>(r) * 0.2989f + 0.587f * static_cast<float>(g) +
                              0.114f * static_cast<float>(b));
}

// What `factor` of a value and the rest of another make.
struct Blend {
  explicit Blend(double factor)
      : first(static_cast<float>(factor)), second(static_cast<float>(1 - factor)) {}
  uint8_t operator()(float a, float b) const { return CutOff(a * first + second * b); }
  float first, second;
};

// Calls `change(r, g, b)` for each pixel, which changes all three.
template <typename Change>
void ForEachPixel(const uint8_t* in, const ImageShape& shape, uint8_t* out, const Change& change) {
  const int64_t n = PlaneSize(shape);
  for (int64_t i = 0; i < n; ++i) {
    uint8_t r = in[i], g = in[i + n], b = in[i + 2 * n];
    change(r, g, b);
    out[i] = r;
    out[i + n] = g;
    out[i + 2 * n] = b;
  }
}

void Copy(const uint8_t* in, const ImageShape& shape, uint8_t* out) {
  if (out != in && shape.num_values() > 0)
    std::memcpy(out, in, static_cast<size_t>(shape.num_values()));
}

// The mean of the picture in grey.
float GrayMean(const uint8_t* in, const ImageShape& shape) {
  const int64_t n = PlaneSize(shape);
  int64_t sum = 0;
  for (int64_t i = 0; i < n; ++i)
    sum += shape.channels == 3 ? GrayOf(in[i], in[i + n], in[i + 2 * n]) : in[i];
  return static_cast<float>(static_cast<double>(sum) /
                            static_cast<double>(std::max<int64_t>(n, 1)));
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
  switch (sector % 6) {
    case 0: r = v, g = t, b = p; break;
    case 1: r = q, g = v, b = p; break;
    case 2: r = p, g = v, b = t; break;
    case 3: r = p, g = q, b = v; break;
    case 4: r = t, g = p, b = v; break;
    default: r = v, g = p, b = q; break;
  }
}

ByteTable StretchingTable(const uint8_t* plane, int64_t n) {
  const auto [low, high] = std::minmax_element(plane, plane + n);
  const float least = *low, range = (static_cast<float>(*high) - least) * (1.0f / 255);
  return TableOf([&](int value) {
    if (range == 0) return static_cast<uint8_t>(value);
    return CutOff((static_cast<float>(value) - least) / range);
  });
}

// Pillow's ImageOps.equalize: the step is how many pixels one level of the result should have.
ByteTable EqualizingTable(const uint8_t* plane, int64_t n) {
  std::array<int64_t, 256> times{};
  for (int64_t i = 0; i < n; ++i) ++times[plane[i]];
  const auto last = std::find_if(times.rbegin(), times.rend(), [](int64_t t) { return t > 0; });
  const int64_t step = (n - (last == times.rend() ? 0 : *last)) / 255;
  int64_t below = step / 2;
  return TableOf([&](int value) {
    if (step == 0) return static_cast<int64_t>(value);
    const int64_t level = std::min<int64_t>(below / step, 255);
    below += times[static_cast<size_t>(value)];
    return level;
  });
}

template <typename MakeTable>
void ApplyToEachPlane(const uint8_t* in, const ImageShape& shape, uint8_t* out,
                      const MakeTable& make_table) {
  const int64_t n = PlaneSize(shape);
  if (n == 0) return;
  for (int64_t c = 0; c < shape.channels; ++c)
    ApplyTable(in + c * n, n, make_table(in + c * n, n), out + c * n);
}

}  // namespace

void AdjustBrightness(const uint8_t* in, const ImageShape& shape, float factor, uint8_t* out) {
  const auto scaled = [&](int value) { return CutOff(static_cast<float>(value) * factor); };
  ApplyTable(in, shape.num_values(), TableOf(scaled), out);
}

void AdjustContrast(const uint8_t* in, const ImageShape& shape, double factor, uint8_t* out) {
  const float mean = GrayMean(in, shape);
  const Blend blend(factor);
  const auto blended = [&](int value) { return blend(static_cast<float>(value), mean); };
  ApplyTable(in, shape.num_values(), TableOf(blended), out);
}

void AdjustSaturation(const uint8_t* in, const ImageShape& shape, double factor, uint8_t* out) {
  if (shape.channels != 3) return Copy(in, shape, out);
  const Blend blend(factor);
  ForEachPixel(in, shape, out, [&](uint8_t& r, uint8_t& g, uint8_t& b) {
    const float gray = GrayOf(r, g, b);
    for (uint8_t* value : {&r, &g, &b}) *value = blend(*value, gray);
  });
}

void AdjustHue(const uint8_t* in, const ImageShape& shape, float turns, uint8_t* out) {
  if (shape.channels != 3) return Copy(in, shape, out);
  ForEachPixel(in, shape, out, [&](uint8_t& r, uint8_t& g, uint8_t& b) {
    constexpr float kUnit = 1.0f / 255;
    Hsv hsv = HsvOf(static_cast<float>(r) * kUnit, static_cast<float>(g) * kUnit,
                    static_cast<float>(b) * kUnit);
    hsv.h += turns;
    if (hsv.h < 0) hsv.h += 1;
    if (hsv.h >= 1) hsv.h -= 1;
    SetFromHsv(hsv, r, g, b);
  });
}

void ToGray(const uint8_t* in, const ImageShape& shape, uint8_t* out) {
  if (shape.channels != 3) return Copy(in, shape, out);
  ForEachPixel(in, shape, out,
               [](uint8_t& r, uint8_t& g, uint8_t& b) { r = g = b = GrayOf(r, g, b); });
}

void ToGrayPlane(const uint8_t* in, const ImageShape& shape, uint8_t* out) {
  const int64_t n = PlaneSize(shape);
  for (int64_t i = 0; i < n; ++i) out[i] = GrayOf(in[i], in[i + n], in[i + 2 * n]);
}

void Invert(const uint8_t* in, const ImageShape& shape, uint8_t* out) {
  for (int64_t i = 0; i < shape.num_values(); ++i) out[i] = static_cast<uint8_t>(255 - in[i]);
}

void Posterize(const uint8_t* in, const ImageShape& shape, int bits, uint8_t* out) {
  const auto mask = static_cast<uint8_t>(0xff00 >> bits);
  for (int64_t i = 0; i < shape.num_values(); ++i) out[i] = in[i] & mask;
}

void Solarize(const uint8_t* in, const ImageShape& shape, float threshold, uint8_t* out) {
  const auto turned = [&](int value) {
    return static_cast<float>(value) >= threshold ? 255 - value : value;
  };
  ApplyTable(in, shape.num_values(), TableOf(turned), out);
}

void AutoContrast(const uint8_t* in, const ImageShape& shape, uint8_t* out) {
  ApplyToEachPlane(in, shape, out, StretchingTable);
}

void Equalize(const uint8_t* in, const ImageShape& shape, uint8_t* out) {
  ApplyToEachPlane(in, shape, out, EqualizingTable);
}

}  // namespace stoker
