#include "stoker/image/affine.h"

#include <cmath>
#include <cstring>

#include "stoker/image/portable_trig.h"

namespace stoker {
namespace {

double SinDegrees(double degrees) { return SinPi(degrees / 180); }
double CosDegrees(double degrees) { return CosPi(degrees / 180); }

// Calls `pixel(x', y', i)` for each pixel of the result, in order, with its source in pixels of the
// picture, their centres at whole numbers. Coordinates far outside are cut to just outside.
template <typename Pixel>
void ForEachSource(const ImageShape& shape, const WarpSize& size, const AffineMatrix& m,
                   const Pixel& pixel) {
  const double half_width = static_cast<double>(shape.width - 1) / 2;
  const double half_height = static_cast<double>(shape.height - 1) / 2;
  const double out_half_width = static_cast<double>(size.width - 1) / 2;
  const double out_half_height = static_cast<double>(size.height - 1) / 2;
  int64_t i = 0;
  for (int64_t row = 0; row < size.height; ++row) {
    const double y = static_cast<double>(row) - out_half_height;
    const double from_x = m[1] * y + m[2] + half_width, from_y = m[4] * y + m[5] + half_height;
    for (int64_t column = 0; column < size.width; ++column, ++i) {
      const double x = static_cast<double>(column) - out_half_width;
      pixel(m[0] * x + from_x, m[3] * x + from_y, i);
    }
  }
}

// True if the position lies less than a pixel outside or within.
bool IsNear(double x, double y, const ImageShape& shape) {
  return x > -1 && y > -1 && x < static_cast<double>(shape.width) &&
         y < static_cast<double>(shape.height);
}

// The largest integer not above x, for x > -2.
int64_t Floor(double x) { return static_cast<int64_t>(x + 2) - 2; }

template <typename T>
void WarpNearestOf(const T* in, const ImageShape& shape, const AffineMatrix& matrix, T fill,
                   const WarpSize& size, T* out) {
  const int64_t plane = shape.height * shape.width, out_plane = size.height * size.width;
  ForEachSource(shape, size, matrix, [&](double x, double y, int64_t i) {
    int64_t from = -1;
    if (IsNear(x, y, shape)) {
      const int64_t column = Floor(x + 0.5), row = Floor(y + 0.5);
      if (column >= 0 && row >= 0 && column < shape.width && row < shape.height)
        from = row * shape.width + column;
    }
    for (int64_t c = 0; c < shape.channels; ++c)
      out[c * out_plane + i] = from < 0 ? fill : in[c * plane + from];
  });
}

template <typename T>
void WarpNearestBytes(const std::byte* in, const ImageShape& shape, const AffineMatrix& matrix,
                      const std::byte* fill, const WarpSize& size, std::byte* out) {
  T value;
  std::memcpy(&value, fill, sizeof(T));
  WarpNearestOf(reinterpret_cast<const T*>(in), shape, matrix, value, size,
                reinterpret_cast<T*>(out));
}

float Rounded(float value, float /*type*/) { return value; }
uint8_t Rounded(float value, uint8_t /*type*/) { return static_cast<uint8_t>(value + 0.5f); }

// Four pixels of one channel, and how far the position lies from the first.
struct Corners {
  float top_left, top_right, bottom_left, bottom_right;

  float At(float right, float low) const {
    const float top = top_left * (1 - right) + top_right * right;
    const float bottom = bottom_left * (1 - right) + bottom_right * right;
    return top * (1 - low) + bottom * low;
  }
};

template <typename T>
Corners CornersInside(const T* first, int64_t width) {
  return {static_cast<float>(first[0]), static_cast<float>(first[1]),
          static_cast<float>(first[width]), static_cast<float>(first[width + 1])};
}

// Some of them may lie outside.
template <typename T>
Corners CornersAtEdge(const T* plane, const ImageShape& shape, int64_t row, int64_t column,
                      T fill) {
  const auto value = [&](int64_t y, int64_t x) {
    const bool inside = y >= 0 && x >= 0 && y < shape.height && x < shape.width;
    return static_cast<float>(inside ? plane[y * shape.width + x] : fill);
  };
  return {value(row, column), value(row, column + 1), value(row + 1, column),
          value(row + 1, column + 1)};
}

template <typename T>
void WarpBilinearOf(const T* in, const ImageShape& shape, const AffineMatrix& matrix, T fill,
                    const WarpSize& size, T* out) {
  const int64_t plane = shape.height * shape.width, width = shape.width;
  const int64_t out_plane = size.height * size.width;
  ForEachSource(shape, size, matrix, [&](double x, double y, int64_t i) {
    if (!IsNear(x, y, shape)) {
      for (int64_t c = 0; c < shape.channels; ++c) out[c * out_plane + i] = fill;
      return;
    }
    const int64_t column = Floor(x), row = Floor(y);
    const auto right = static_cast<float>(x - static_cast<double>(column));
    const auto low = static_cast<float>(y - static_cast<double>(row));
    const bool inside =
        column >= 0 && row >= 0 && column + 1 < shape.width && row + 1 < shape.height;
    for (int64_t c = 0; c < shape.channels; ++c) {
      const T* from = in + c * plane;
      const Corners corners = inside ? CornersInside(from + row * width + column, width)
                                     : CornersAtEdge(from, shape, row, column, fill);
      out[c * out_plane + i] = Rounded(corners.At(right, low), T{});
    }
  });
}

}  // namespace

AffineMatrix InverseMatrix(const AffineChange& change) {
  const double turn = change.degrees - change.shear_y;
  const double cos_y = CosDegrees(change.shear_y);
  const double tan_x = SinDegrees(change.shear_x) / CosDegrees(change.shear_x);
  // Forwards: rotation times shear, without scale.
  const double a = CosDegrees(turn) / cos_y;
  const double b = -(CosDegrees(turn) * tan_x) / cos_y - SinDegrees(change.degrees);
  const double c = SinDegrees(turn) / cos_y;
  const double d = -(SinDegrees(turn) * tan_x) / cos_y + CosDegrees(change.degrees);
  // Its determinant is 1.
  AffineMatrix m = {d / change.scale, -b / change.scale, 0, -c / change.scale, a / change.scale, 0};
  const double x = -change.center_x - change.translate_x;
  const double y = -change.center_y - change.translate_y;
  m[2] = m[0] * x + m[1] * y + change.center_x;
  m[5] = m[3] * x + m[4] * y + change.center_y;
  return m;
}

AffineMatrix RotationMatrix(double degrees) { return InverseMatrix({.degrees = -degrees}); }

WarpSize WholeSize(const AffineMatrix& m, int64_t height, int64_t width) {
  constexpr double kPart = 1e-4;
  const auto extent = [](double half_a, double half_b, int64_t side) {
    // From the middle to the furthest corner; the near end lies as far on the other side of it.
    const double half = static_cast<double>(side) / 2,
                 reach = std::fabs(half_a) + std::fabs(half_b);
    const auto trimmed = [](double x) { return std::trunc(x / kPart) * kPart; };
    const double whole = std::nearbyint(2 * reach);
    if (std::fabs(2 * reach - whole) < kPart) return static_cast<int64_t>(whole);
    return static_cast<int64_t>(std::ceil(trimmed(half + reach)) -
                                std::floor(trimmed(half - reach)));
  };
  const double half_width = static_cast<double>(width) / 2;
  const double half_height = static_cast<double>(height) / 2;
  return {.height = extent(m[3] * half_width, m[4] * half_height, height),
          .width = extent(m[0] * half_width, m[1] * half_height, width)};
}

void WarpNearest(const std::byte* in, const ImageShape& shape, size_t value_size,
                 const AffineMatrix& matrix, const std::byte* fill, const WarpSize& size,
                 std::byte* out) {
  switch (value_size) {
    case 1: return WarpNearestBytes<uint8_t>(in, shape, matrix, fill, size, out);
    case 2: return WarpNearestBytes<uint16_t>(in, shape, matrix, fill, size, out);
    case 4: return WarpNearestBytes<uint32_t>(in, shape, matrix, fill, size, out);
    case 8: return WarpNearestBytes<uint64_t>(in, shape, matrix, fill, size, out);
  }
}

void WarpBilinear(const uint8_t* in, const ImageShape& shape, const AffineMatrix& matrix,
                  uint8_t fill, const WarpSize& size, uint8_t* out) {
  WarpBilinearOf(in, shape, matrix, fill, size, out);
}
void WarpBilinear(const float* in, const ImageShape& shape, const AffineMatrix& matrix, float fill,
                  const WarpSize& size, float* out) {
  WarpBilinearOf(in, shape, matrix, fill, size, out);
}

}  // namespace stoker
