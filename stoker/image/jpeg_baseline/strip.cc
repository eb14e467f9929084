#include "stoker/image/jpeg_baseline/strip.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "stoker/image/jpeg_baseline/color_rows.h"
#include "stoker/image/jpeg_baseline/inverse_dct.h"
#include "stoker/image/jpeg_baseline/scaled_inverse_dct.h"

namespace stoker::jpeg_baseline {
namespace {

constexpr size_t kSumsInFront = 32;  // values: there is one at -1, and rows stay aligned

size_t RoundUp(size_t n, size_t to) { return (n + to - 1) / to * to; }

}  // namespace

Strip::Strip(const Frame& frame, const RegionPlan& plan, DecodeScratch& scratch)
    : frame_(frame), plan_(plan) {
  const int mcu_rows = plan.chroma.fancy_down ? 2 : 1;  // pixels need rows of two
  const size_t mcus = RoundUp(static_cast<size_t>(plan.mcu_columns.size()), kGroupBlocks);
  for (int i = 0; i < plan.num_components; ++i) {
    const PlaneGeometry& g = plan.geometry.planes[i];
    Plane& plane = planes_[i];
    const size_t rows = std::bit_ceil(static_cast<size_t>(mcu_rows * g.mcu_height));
    const size_t stride = mcus * static_cast<size_t>(g.mcu_width) + kRowPadding;
    plane.row_mask = static_cast<int>(rows) - 1;
    plane.stride = static_cast<ptrdiff_t>(stride);
    plane.data = reinterpret_cast<uint8_t*>(scratch.Take(rows * stride));
  }
}

bool Strip::Put(CoefficientBatch& batch, int mcu_row, int mcu_column) {
  bool plain = true;
  int group = 0;
  for (int i = 0; i < plan_.num_components; ++i) {
    const Component& c = frame_.components[i];
    const PlaneGeometry& g = plan_.geometry.planes[i];
    const int16_t* divisors = frame_.quants[c.quant].divisors.data();
    for (int down = 0; down < c.down; ++down) {
      uint8_t* to =
          planes_[i].row(mcu_row * g.mcu_height + down * g.block_size) + mcu_column * g.mcu_width;
      for (int across = 0; across < c.across;
           ++across, ++group, to += kGroupBlocks * g.block_size) {
        int16_t* values = batch.values.data() + group * kGroupValues;
        plain &=
            g.block_size == kBlockSize
                ? InverseDctGroup(values, divisors, batch.last_place[group], to, planes_[i].stride)
                : ScaledInverseDctGroup(values, divisors, g.block_size, to, planes_[i].stride);
      }
    }
  }
  batch.last_place.fill(0);
  return plain;
}

PixelWriter::PixelWriter(const RegionPlan& plan, int mcus_down, const ImageRegion& region,
                         int channels, const PixelRows& out, DecodeScratch& scratch)
    : plan_(plan),
      mcus_down_(mcus_down),
      region_(region),
      channels_(channels),
      out_(out),
      x_(static_cast<size_t>(region.x) - static_cast<size_t>(plan.mcu_columns.begin) *
                                             static_cast<size_t>(plan.geometry.mcu_width)),
      next_row_(static_cast<int>(region.y)) {
  const Expansion& e = plan.chroma;
  if (plan.num_components == 1 || (e.across == 1 && e.down == 1)) return;
  const auto pixels = static_cast<size_t>(plan.mcu_columns.size() * plan.geometry.mcu_width);
  for (size_t i = 0; i < 2; ++i) {
    if (e.fancy_across) {
      const size_t bytes = (kSumsInFront + pixels / 2 + 1) * sizeof(int16_t) + 2 * kRowPadding;
      sums_[i] = reinterpret_cast<int16_t*>(scratch.Take(bytes)) + kSumsInFront;
    } else {
      full_[i] = reinterpret_cast<uint8_t*>(scratch.Take(pixels + 2 * kRowPadding));
    }
  }
}

// Rows of the picture above this one have all the samples they are made of.
int PixelWriter::RowsComplete(int mcu_row) const {
  const int rows = (mcu_row + 1) * plan_.geometry.mcu_height;
  // The last row is made with one of the MCU row below.
  const bool last = mcu_row + 1 == mcus_down_;
  return plan_.chroma.fancy_down && !last ? rows - 1 : rows;
}

void PixelWriter::WriteRows(const Strip& strip, int mcu_row) {
  const int begin = static_cast<int>(region_.y);
  const int end = std::min(begin + static_cast<int>(region_.height), RowsComplete(mcu_row));
  for (; next_row_ < end; ++next_row_) WriteRow(strip, next_row_, out_.row(next_row_ - begin));
}

void PixelWriter::WriteRow(const Strip& strip, int y, uint8_t* to) {
  if (plan_.num_components > 1) return WriteColourRow(strip, y, to);
  const uint8_t* grey = strip.row(0, y) + x_;
  const auto width = static_cast<size_t>(region_.width);
  if (channels_ == 1) {
    std::memcpy(to, grey, width);
    return;
  }
  for (size_t i = 0; i < width; ++i) to[3 * i] = to[3 * i + 1] = to[3 * i + 2] = grey[i];
}

void PixelWriter::WriteColourRow(const Strip& strip, int y, uint8_t* to) {
  const uint8_t* luma = strip.row(0, y) + x_;
  const auto width = static_cast<size_t>(region_.width);
  const Expansion& e = plan_.chroma;
  if (e.fancy_across) {
    for (int i = 0; i < 2; ++i) SumChroma(strip, 1 + i, y, sums_[i]);
    ConvertDoubledRow(luma, sums_[0], sums_[1], x_, width, e.fancy_down, to);
    return;
  }
  const uint8_t* cb = FullChroma(strip, 1, y, full_[0]);
  const uint8_t* cr = FullChroma(strip, 2, y, full_[1]);
  ConvertRow(luma, cb, cr, width, to);
}

// The values that ConvertDoubledRow wants of a row of pixels. At the picture's edges the outermost
// sample takes the place of its neighbour.
void PixelWriter::SumChroma(const Strip& strip, int component, int y, int16_t* sums) {
  const PlaneGeometry& plane = plan_.geometry.planes[component];
  const int first = plan_.mcu_columns.begin * plane.mcu_width;  // of the strip
  const auto in_picture = static_cast<size_t>(plane.width - first);
  const size_t begin = x_ / 2 - (x_ >= 2 ? 1 : 0);
  const size_t end = std::min(in_picture, (x_ + static_cast<size_t>(region_.width)) / 2 + 1);
  if (plan_.chroma.fancy_down) {
    const uint8_t* near = strip.row(component, y / 2);
    const uint8_t* far = strip.row(component, FarRow(y, plane.height));
    SumRows(near + begin, far + begin, end - begin, sums + begin);
  } else {
    WidenRow(strip.row(component, y) + begin, end - begin, sums + begin);
  }
  sums[-1] = sums[0];  // of use where the strip begins with the picture
  if (end == in_picture) sums[end] = sums[end - 1];
}

// A row of samples for each pixel of the region.
const uint8_t* PixelWriter::FullChroma(const Strip& strip, int component, int y, uint8_t* to) {
  const Expansion& e = plan_.chroma;
  const auto width = static_cast<size_t>(region_.width);
  if (e.across == 1 && e.down == 1) return strip.row(component, y) + x_;
  if (e.fancy_down) {
    const int far = FarRow(y, plan_.geometry.planes[component].height);
    BlendRows(strip.row(component, y / 2) + x_, strip.row(component, far) + x_, y % 2 != 0, width,
              to);
    return to;
  }
  RepeatSamples(strip.row(component, y / e.down), static_cast<size_t>(e.across), x_, width, to);
  return to;
}

}  // namespace stoker::jpeg_baseline
