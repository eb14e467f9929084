#include "stoker/image/erase.h"

#include <algorithm>
#include <cstring>

namespace stoker {
namespace {

template <typename T>
void Erase(T* image, const ImageShape& shape, const CropWindow& window,
           std::span<const std::byte> values) {
  for (int64_t c = 0; c < shape.channels; ++c) {
    const size_t at = values.size() > sizeof(T) ? static_cast<size_t>(c) * sizeof(T) : 0;
    T value;
    std::memcpy(&value, values.data() + at, sizeof(T));
    for (int64_t y = window.y; y < window.y + window.height; ++y)
      std::fill_n(image + (c * shape.height + y) * shape.width + window.x, window.width, value);
  }
}

}  // namespace

void EraseWindow(std::byte* image, const ImageShape& shape, size_t value_size,
                 const CropWindow& window, std::span<const std::byte> values) {
  switch (value_size) {
    case 1: return Erase(reinterpret_cast<uint8_t*>(image), shape, window, values);
    case 2: return Erase(reinterpret_cast<uint16_t*>(image), shape, window, values);
    case 4: return Erase(reinterpret_cast<uint32_t*>(image), shape, window, values);
    case 8: return Erase(reinterpret_cast<uint64_t*>(image), shape, window, values);
  }
}

void EraseWindowWithNoise(float* image, const ImageShape& shape, const CropWindow& window,
                          bool each_pixel, Rng& rng) {
  for (int64_t c = 0; c < shape.channels; ++c) {
    auto value = each_pixel ? 0.0f : static_cast<float>(rng.Normal());
    for (int64_t y = window.y; y < window.y + window.height; ++y) {
      float* row = image + (c * shape.height + y) * shape.width + window.x;
      for (int64_t x = 0; x < window.width; ++x) {
        if (each_pixel) value = static_cast<float>(rng.Normal());
        row[x] = value;
      }
    }
  }
}

}  // namespace stoker
