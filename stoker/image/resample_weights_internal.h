// The weights of one axis of a resize.
#pragma once

#include <cstdint>
#include <vector>

#include "stoker/base/stop_counter.h"
#include "stoker/image/resample.h"

namespace stoker {

// The parameters of one axis of a resize.
struct AxisKey {
  ResampleFilter filter = ResampleFilter::kBilinear;
  int64_t in = 0;    // extent of the source
  int64_t out = 0;   // extent of the result
  double begin = 0;  // of the box, in pixels of the source
  double extent = 0;
  // First taps are even, so that pixels can be read in pairs.
  bool in_pairs = false;

  bool operator==(const AxisKey&) const = default;
};

// The source pixels of each pixel of the result, and their weights. Computed as in Pillow
// (src/libImaging/Resample.c, precompute_coeffs): the filter is stretched by the scale if that is
// above 1, weights are taken at pixel centres and divided by their sum, and pixels outside the
// source have weight 0.
class AxisWeights {
 public:
  // Computes the table, unless it is already there. Allocates only if it becomes larger than any
  // before. REQUIRES: 0 <= begin, 0 < extent, begin + extent <= in, out > 0. Returns false if this
  // thread was asked to stop meanwhile (StopScope); then there is no table.
  bool Prepare(const AxisKey& key);

  // Only `span` pixels of the source from `base` on are used.
  int64_t base() const { return base_; }
  int64_t span() const { return span_; }

  // Result x is sum(weight[t] * source[base() + first(x) + t], t = 0 .. 2 * pairs() - 1), weights
  // in units of 2^-precision(); their sum is 2^precision() exactly. Taps from count(x) on have
  // weight 0 and may lie outside. Tables are padded with zeros to a multiple of four results.
  int64_t first(int64_t x) const { return first_[static_cast<size_t>(x)]; }
  int64_t count(int64_t x) const { return count_[static_cast<size_t>(x)]; }
  int64_t pairs() const { return pairs_; }
  const int16_t* weights(int64_t x) const { return weights_.data() + x * pairs_ * 2; }
  const int32_t* firsts() const { return first_.data(); }
  // At most kMaxPrecision, and the largest that keeps the largest weight within 16 bits.
  int precision() const { return precision_; }
  static constexpr int kMaxPrecision = 16;

  // Memory of the tables, which are kept for the next picture: at most kMostBytesOfAPixel for each
  // pixel of the longer side, of source or result.
  static constexpr int64_t kMostBytesOfAPixel = 160;
  int64_t bytes() const;
  // Returns an upper bound of the memory of the table for this key.
  static int64_t MostBytesFor(const AxisKey& key);

  // Returns the same weights before rounding, count(x) of them, for floats.
  const double* exact(int64_t x) const { return exact_.data() + x * pairs_ * 2; }

 private:
  void FindTaps();
  bool WeighTaps(StopCounter& stop);
  bool RoundWeights(StopCounter& stop);

  AxisKey key_;
  double support_ = 0;
  double scale_ = 0;
  int64_t base_ = 0;
  int64_t span_ = 0;
  int64_t pairs_ = 0;
  int precision_ = 0;
  std::vector<int32_t> first_, count_;
  std::vector<double> exact_;
  std::vector<int16_t> weights_;
};

// Returns true if a filter has weights below zero, so that results overshoot and are clamped.
bool Overshoots(ResampleFilter filter);

// Returns whether the column pass comes first. The row pass costs more, so it should process as few
// rows as possible. For a filter that overshoots, clamping between the passes makes the order
// visible, so rows come first.
bool ColumnsFirst(ResampleFilter filter, const AxisWeights& vertical, const ResampleSize& size);

// Returns the pixel that nearest neighbour takes for result x: the one in which its centre lies.
int64_t NearestPixel(const AxisKey& key, int64_t x);

}  // namespace stoker
