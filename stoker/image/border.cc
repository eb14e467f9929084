#include "stoker/image/border.h"

#include <algorithm>
#include <vector>

namespace stoker {
namespace {

// T stands for any value of its size.
template <typename T>
void Crop(const std::byte* in, const ImageShape& shape, const CropWindow& window, Border border,
          std::byte* out) {
  std::vector<int64_t> columns(static_cast<size_t>(window.width));
  for (int64_t x = 0; x < window.width; ++x)
    columns[static_cast<size_t>(x)] = BorderPixel(border, window.x + x, shape.width);
  T* to = reinterpret_cast<T*>(out);
  for (int64_t channel = 0; channel < shape.channels; ++channel) {
    const T* plane = reinterpret_cast<const T*>(in) + channel * shape.height * shape.width;
    for (int64_t y = 0; y < window.height; ++y) {
      const T* row = plane + BorderPixel(border, window.y + y, shape.height) * shape.width;
      for (const int64_t x : columns) *to++ = row[x];
    }
  }
}

}  // namespace

int64_t BorderPixel(Border border, int64_t i, int64_t n) {
  if (border == Border::kEdge || n == 1) return std::clamp<int64_t>(i, 0, n - 1);
  // There and back, with the pixels at the ends once or twice.
  const int64_t period = border == Border::kReflect ? 2 * (n - 1) : 2 * n;
  const int64_t at = (i % period + period) % period;
  if (at < n) return at;
  return border == Border::kReflect ? period - at : period - 1 - at;
}

void CropOverBorder(const std::byte* in, const ImageShape& shape, size_t value_size,
                    const CropWindow& window, Border border, std::byte* out) {
  if (window.height == 0 || window.width == 0) return;
  switch (value_size) {
    case 1: return Crop<uint8_t>(in, shape, window, border, out);
    case 2: return Crop<uint16_t>(in, shape, window, border, out);
    case 4: return Crop<uint32_t>(in, shape, window, border, out);
    case 8: return Crop<uint64_t>(in, shape, window, border, out);
  }
}

}  // namespace stoker
