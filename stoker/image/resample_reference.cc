// The plain twin of Resample: whole pictures, one value after the other.
#include <algorithm>
#include <vector>

#include "stoker/image/resample_kernels_internal.h"

namespace stoker {
namespace {

int32_t Divided(int64_t sum, int shift, int32_t max) {
  return static_cast<int32_t>(
      std::clamp<int64_t>((sum + (int64_t{1} << (shift - 1))) >> shift, 0, max));
}

// A picture of numbers; `bits` of them are fraction.
struct Plane {
  int64_t height, width;
  int bits;
  std::vector<int32_t> values;

  Plane(int64_t h, int64_t w, int b)
      : height(h), width(w), bits(b), values(static_cast<size_t>(h * w)) {}
  int32_t& at(int64_t y, int64_t x) { return values[static_cast<size_t>(y * width + x)]; }
  int32_t at(int64_t y, int64_t x) const { return values[static_cast<size_t>(y * width + x)]; }
};

Plane AlongColumns(const Plane& in, const AxisWeights& weights, int64_t height, int bits) {
  Plane out(height, in.width, bits);
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < in.width; ++x) {
      int64_t sum = 0;
      for (int64_t t = 0; t < weights.count(y); ++t)
        sum += int64_t{weights.weights(y)[t]} * in.at(weights.base() + weights.first(y) + t, x);
      out.at(y, x) = Divided(sum, weights.precision() + in.bits - bits, 255 << bits);
    }
  }
  return out;
}

Plane Transposed(const Plane& in) {
  Plane out(in.width, in.height, in.bits);
  for (int64_t y = 0; y < in.height; ++y) {
    for (int64_t x = 0; x < in.width; ++x) out.at(x, y) = in.at(y, x);
  }
  return out;
}

Plane AlongRows(const Plane& in, const AxisWeights& weights, int64_t width, int bits) {
  return Transposed(AlongColumns(Transposed(in), weights, width, bits));
}

Plane ChannelOf(const PixelView& source, int64_t channel) {
  Plane plane(source.height, source.width, 0);
  const int64_t step = source.planar() ? 1 : source.channels;
  const int64_t start = source.planar() ? channel * source.plane_stride : channel;
  for (int64_t y = 0; y < source.height; ++y) {
    for (int64_t x = 0; x < source.width; ++x)
      plane.at(y, x) = source.data[y * source.row_stride + x * step + start];
  }
  return plane;
}

}  // namespace

void ResampleReference(const PixelView& source, const ResampleBox& box, ResampleFilter filter,
                       const ResampleSize& size, RowReceiver& rows) {
  AxisWeights vertical, horizontal;
  vertical.Prepare({filter, source.height, size.height, box.y, box.height, false});
  horizontal.Prepare({filter, source.width, size.width, box.x, box.width, true});
  std::vector<Plane> planes;
  for (int64_t c = 0; c < kPixelBytes; ++c) {
    const Plane plane = ChannelOf(source, std::min(c, source.channels - 1));
    planes.push_back(ColumnsFirst(filter, vertical, size)
                         ? AlongRows(AlongColumns(plane, vertical, size.height, kMiddleBits),
                                     horizontal, size.width, 0)
                         : AlongColumns(AlongRows(plane, horizontal, size.width, kMiddleBits),
                                        vertical, size.height, 0));
  }
  std::vector<uint8_t> row(static_cast<size_t>(size.width * kPixelBytes + kRowSlack));
  for (int64_t y = 0; y < size.height; ++y) {
    for (int64_t x = 0; x < size.width; ++x) {
      for (int64_t c = 0; c < kPixelBytes; ++c) {
        row[static_cast<size_t>(x * kPixelBytes + c)] =
            static_cast<uint8_t>(planes[static_cast<size_t>(c)].at(y, x));
      }
    }
    rows.Take(y, row.data());
  }
}

}  // namespace stoker
