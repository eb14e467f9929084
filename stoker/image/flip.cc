#include "stoker/image/flip.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace stoker {
namespace {

template <typename T>
T Load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T>
void Store(T value, std::byte* to) {
  std::memcpy(to, &value, sizeof(T));
}

// Every step below reads both ends of what is left before it writes them, so `out` may be `in`. The
// two ends may overlap: then both write the same values there.
template <typename T>
void ReverseRow(const std::byte* in, int64_t n, std::byte* out) {
  for (int64_t left = 0, right = n - 1; left <= right; ++left, --right) {
    const int64_t l = left * static_cast<int64_t>(sizeof(T)),
                  r = right * static_cast<int64_t>(sizeof(T));
    const T first = Load<T>(in + l), last = Load<T>(in + r);
    Store(last, out + l);
    Store(first, out + r);
  }
}

// Bytes, the usual pixels, are turned eight and four at a time.
template <>
void ReverseRow<uint8_t>(const std::byte* in, int64_t n, std::byte* out) {
  int64_t left = 0, right = n;
  for (; right - left >= 8; left += 8, right -= 8) {
    const auto first = Load<uint64_t>(in + left), last = Load<uint64_t>(in + right - 8);
    Store(__builtin_bswap64(last), out + left);
    Store(__builtin_bswap64(first), out + right - 8);
  }
  for (; right - left >= 4; left += 4, right -= 4) {
    const auto first = Load<uint32_t>(in + left), last = Load<uint32_t>(in + right - 4);
    Store(__builtin_bswap32(last), out + left);
    Store(__builtin_bswap32(first), out + right - 4);
  }
  for (--right; left <= right; ++left, --right) {
    const std::byte first = in[left], last = in[right];
    out[left] = last;
    out[right] = first;
  }
}

template <typename T>
void ReverseRows(const std::byte* in, const ImageShape& shape, std::byte* out) {
  const int64_t row_bytes = shape.width * static_cast<int64_t>(sizeof(T));
  for (int64_t row = 0; row < shape.channels * shape.height; ++row) {
    ReverseRow<T>(in + row * row_bytes, shape.width, out + row * row_bytes);
  }
}

}  // namespace

void FlipHorizontally(const std::byte* in, const ImageShape& shape, size_t value_size,
                      std::byte* out) {
  switch (value_size) {
    case 1: return ReverseRows<uint8_t>(in, shape, out);
    case 2: return ReverseRows<uint16_t>(in, shape, out);
    case 4: return ReverseRows<uint32_t>(in, shape, out);
    case 8: return ReverseRows<uint64_t>(in, shape, out);
  }
}

void FlipVertically(const std::byte* in, const ImageShape& shape, size_t value_size,
                    std::byte* out) {
  const int64_t row_bytes = shape.width * static_cast<int64_t>(value_size);
  for (int64_t channel = 0; channel < shape.channels; ++channel) {
    for (int64_t top = 0, bottom = shape.height - 1; top <= bottom; ++top, --bottom) {
      const int64_t first_row = channel * shape.height;
      const int64_t t = (first_row + top) * row_bytes, b = (first_row + bottom) * row_bytes;
      if (in == out) {
        std::swap_ranges(out + t, out + t + row_bytes, out + b);
      } else {
        std::copy_n(in + b, row_bytes, out + t);
        std::copy_n(in + t, row_bytes, out + b);
      }
    }
  }
}

}  // namespace stoker
