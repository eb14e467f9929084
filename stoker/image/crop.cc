#include "stoker/image/crop.h"

#include <algorithm>
#include <cstring>

namespace stoker {
namespace {

// T stands for any value of its size: values are only copied.
template <typename T>
void CropImageOf(const T* in, const ImageShape& shape, const CropWindow& window, T fill, T* out) {
  // The window's columns [first, last) lie inside the image.
  const int64_t first = std::clamp<int64_t>(-window.x, 0, window.width);
  const int64_t last = std::clamp<int64_t>(shape.width - window.x, first, window.width);
  for (int64_t channel = 0; channel < shape.channels; ++channel) {
    const T* plane = in + channel * shape.height * shape.width;
    for (int64_t row = 0; row < window.height; ++row, out += window.width) {
      const int64_t y = window.y + row;
      if (y < 0 || y >= shape.height || first == last) {
        std::fill_n(out, window.width, fill);
        continue;
      }
      std::fill_n(out, first, fill);
      std::copy_n(plane + y * shape.width + window.x + first, last - first, out + first);
      std::fill_n(out + last, window.width - last, fill);
    }
  }
}

template <typename T>
void CropBytes(const std::byte* in, const ImageShape& shape, const CropWindow& window,
               const std::byte* fill, std::byte* out) {
  T fill_value;
  std::memcpy(&fill_value, fill, sizeof(T));
  CropImageOf(reinterpret_cast<const T*>(in), shape, window, fill_value, reinterpret_cast<T*>(out));
}

}  // namespace

void CropImage(const std::byte* in, const ImageShape& shape, size_t value_size,
               const CropWindow& window, const std::byte* fill, std::byte* out) {
  switch (value_size) {
    case 1: return CropBytes<uint8_t>(in, shape, window, fill, out);
    case 2: return CropBytes<uint16_t>(in, shape, window, fill, out);
    case 4: return CropBytes<uint32_t>(in, shape, window, fill, out);
    case 8: return CropBytes<uint64_t>(in, shape, window, fill, out);
  }
}

}  // namespace stoker
