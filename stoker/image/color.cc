#include "stoker/image/color.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "stoker/image/color_kernels_internal.h"

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

ConstColorPlanes PlanesOf(const uint8_t* in, const ImageShape& shape) {
  const int64_t n = PlaneSize(shape);
  return {in, in + n, in + 2 * n};
}
ColorPlanes PlanesOf(uint8_t* out, const ImageShape& shape) {
  const int64_t n = PlaneSize(shape);
  return {out, out + n, out + 2 * n};
}

void Copy(const uint8_t* in, const ImageShape& shape, uint8_t* out) {
  if (out != in && shape.num_values() > 0)
    std::memcpy(out, in, static_cast<size_t>(shape.num_values()));
}

int64_t SumOf(const uint8_t* in, int64_t n) { return std::accumulate(in, in + n, int64_t{0}); }

// The mean of the picture in grey.
float GrayMean(const uint8_t* in, const ImageShape& shape) {
  constexpr int64_t kAtOnce = 4096;
  const int64_t n = PlaneSize(shape);
  int64_t sum = shape.channels == 3 ? 0 : SumOf(in, n);
  for (int64_t i = 0; shape.channels == 3 && i < n; i += kAtOnce) {
    uint8_t gray[kAtOnce];
    const int64_t count = std::min(kAtOnce, n - i);
    GrayPixels({in + i, in + n + i, in + 2 * n + i}, count, gray);
    sum += SumOf(gray, count);
  }
  return static_cast<float>(static_cast<double>(sum) /
                            static_cast<double>(std::max<int64_t>(n, 1)));
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
  ScaleBytes(in, shape.num_values(), factor, 0, out);
}

void AdjustContrast(const uint8_t* in, const ImageShape& shape, double factor, uint8_t* out) {
  const float offset = static_cast<float>(1 - factor) * GrayMean(in, shape);
  ScaleBytes(in, shape.num_values(), static_cast<float>(factor), offset, out);
}

void AdjustSaturation(const uint8_t* in, const ImageShape& shape, double factor, uint8_t* out) {
  if (shape.channels != 3) return Copy(in, shape, out);
  SaturatePixels(PlanesOf(in, shape), PlaneSize(shape), static_cast<float>(factor),
                 static_cast<float>(1 - factor), PlanesOf(out, shape));
}

void AdjustHue(const uint8_t* in, const ImageShape& shape, float turns, uint8_t* out) {
  if (shape.channels != 3) return Copy(in, shape, out);
  TurnHues(PlanesOf(in, shape), PlaneSize(shape), turns, PlanesOf(out, shape));
}

void ToGray(const uint8_t* in, const ImageShape& shape, uint8_t* out) {
  if (shape.channels != 3) return Copy(in, shape, out);
  const auto n = static_cast<size_t>(PlaneSize(shape));
  ToGrayPlane(in, shape, out);
  for (size_t c = 1; c < 3 && n > 0; ++c) std::memcpy(out + c * n, out, n);
}

void ToGrayPlane(const uint8_t* in, const ImageShape& shape, uint8_t* out) {
  GrayPixels(PlanesOf(in, shape), PlaneSize(shape), out);
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
