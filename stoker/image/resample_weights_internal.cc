#include "stoker/image/resample_weights_internal.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stoker/image/portable_trig.h"

namespace stoker {
namespace {

constexpr int64_t kResultsAtOnce = 4;

// How far the filter reaches, in pixels of the result where that is smaller than the source.
double SupportOf(ResampleFilter filter) {
  switch (filter) {
    case ResampleFilter::kNearest:
    case ResampleFilter::kBox:
    case ResampleFilter::kArea: return 0.5;
    case ResampleFilter::kBilinear: return 1;
    case ResampleFilter::kBicubic: return 2;
    case ResampleFilter::kLanczos3: return 3;
  }
  return 0;
}

// Keys, "Cubic convolution interpolation for digital image processing" (1981), with a = -1/2.
double Bicubic(double x) {
  constexpr double kA = -0.5;
  x = std::fabs(x);
  if (x < 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * kA;
  return 0;
}

double Sinc(double x) { return x == 0 ? 1 : SinPi(x) / (std::numbers::pi * x); }

// The filter at a distance from its centre; kArea is no function of that alone.
double FilterAt(ResampleFilter filter, double x) {
  switch (filter) {
    case ResampleFilter::kNearest:
    case ResampleFilter::kArea:
    case ResampleFilter::kBox: return x > -0.5 && x <= 0.5 ? 1 : 0;
    case ResampleFilter::kBilinear: return std::max(0.0, 1 - std::fabs(x));
    case ResampleFilter::kBicubic: return Bicubic(x);
    case ResampleFilter::kLanczos3: return x >= -3 && x < 3 ? Sinc(x) * Sinc(x / 3) : 0;
  }
  return 0;
}

// floor(x + 0.5) for |x| < 2^20, without a call of the C library.
int64_t RoundedHalfUp(double x) {
  constexpr int64_t kOffset = 1 << 20;
  return static_cast<int64_t>(x + (static_cast<double>(kOffset) + 0.5)) - kOffset;
}

}  // namespace

bool Overshoots(ResampleFilter filter) {
  return filter == ResampleFilter::kBicubic || filter == ResampleFilter::kLanczos3;
}

bool ColumnsFirst(ResampleFilter filter, const AxisWeights& vertical, const ResampleSize& size) {
  return !Overshoots(filter) && vertical.span() >= size.height;
}

int64_t NearestPixel(const AxisKey& key, int64_t x) {
  const double scale = key.extent / static_cast<double>(key.out);
  const double centre = key.begin + (static_cast<double>(x) + 0.5) * scale;
  return std::clamp<int64_t>(static_cast<int64_t>(centre), 0, key.in - 1);
}

bool AxisWeights::Prepare(const AxisKey& key) {
  if (key == key_) return true;
  key_ = key;
  scale_ = key.extent / static_cast<double>(key.out);
  FindTaps();
  StopCounter stop;
  if (WeighTaps(stop) && RoundWeights(stop)) return true;
  key_ = AxisKey();
  return false;
}

int64_t AxisWeights::MostBytesFor(const AxisKey& key) {
  const double scale = key.extent / static_cast<double>(key.out);
  const bool area = key.filter == ResampleFilter::kArea;
  const double support = SupportOf(key.filter) * (area ? scale : std::max(1.0, scale));
  // Both ends are rounded outwards, and the first to an even pixel.
  const bool one = key.filter == ResampleFilter::kNearest;
  const int64_t taps = std::min(one ? 2 : static_cast<int64_t>(2 * support) + 3, key.in + 1);
  const int64_t tap_bytes = sizeof(exact_[0]) + sizeof(weights_[0]);
  const int64_t result_bytes = sizeof(first_[0]) + sizeof(count_[0]);
  return (key.out + kResultsAtOnce) * (result_bytes + (taps + 1) / 2 * 2 * tap_bytes);
}

int64_t AxisWeights::bytes() const {
  const auto bytes_of = [](const auto& values) {
    return static_cast<int64_t>(values.capacity() * sizeof(values[0]));
  };
  return bytes_of(first_) + bytes_of(count_) + bytes_of(exact_) + bytes_of(weights_);
}

void AxisWeights::FindTaps() {
  const bool area = key_.filter == ResampleFilter::kArea;
  support_ = SupportOf(key_.filter) * (area ? scale_ : std::max(1.0, scale_));
  const int64_t padded = (key_.out + kResultsAtOnce - 1) / kResultsAtOnce * kResultsAtOnce;
  first_.assign(static_cast<size_t>(padded), 0);
  count_.assign(static_cast<size_t>(padded), 0);
  int64_t most = 1, last = 0;
  for (int64_t x = 0; x < key_.out; ++x) {
    const double centre = key_.begin + (static_cast<double>(x) + 0.5) * scale_;
    int64_t first, end;
    if (key_.filter == ResampleFilter::kNearest) {
      first = NearestPixel(key_, x);
      end = first + 1;
    } else if (area) {  // every pixel of which a part is covered
      first = static_cast<int64_t>(centre - support_);
      end = static_cast<int64_t>(std::ceil(centre + support_));
    } else {
      first = static_cast<int64_t>(std::max(0.0, centre - support_ + 0.5));
      end = static_cast<int64_t>(centre + support_ + 0.5);
    }
    first = std::clamp<int64_t>(first, 0, key_.in - 1);
    end = std::clamp(end, first + 1, key_.in);
    if (key_.in_pairs) first &= ~int64_t{1};
    if (x == 0) base_ = first;
    first_[static_cast<size_t>(x)] = static_cast<int32_t>(first - base_);
    count_[static_cast<size_t>(x)] = static_cast<int32_t>(end - first);
    most = std::max(most, end - first);
    last = std::max(last, end);
  }
  span_ = last - base_;
  pairs_ = (most + 1) / 2;
}

bool AxisWeights::WeighTaps(StopCounter& stop) {
  exact_.assign(first_.size() * static_cast<size_t>(pairs_) * 2, 0.0);
  const double stretch = 1 / std::max(1.0, scale_);
  for (int64_t x = 0; x < key_.out; ++x) {
    const double centre = key_.begin + (static_cast<double>(x) + 0.5) * scale_;
    double* weights = exact_.data() + x * pairs_ * 2;
    double sum = 0;
    for (int64_t t = 0; t < count(x); ++t) {
      const int64_t pixel = base_ + first(x) + t;
      const double left = static_cast<double>(pixel);
      if (key_.filter == ResampleFilter::kNearest) {
        weights[t] = pixel == NearestPixel(key_, x) ? 1 : 0;
      } else if (key_.filter == ResampleFilter::kArea) {
        weights[t] = std::max(
            0.0, std::min(left + 1, centre + support_) - std::max(left, centre - support_));
      } else {
        weights[t] = FilterAt(key_.filter, (left - centre + 0.5) * stretch);
      }
      sum += weights[t];
    }
    const double whole = 1 / sum;
    for (int64_t t = 0; t < count(x); ++t) weights[t] *= whole;
    if (stop.Asked(2 * count(x))) return false;
  }
  return true;
}

// Not the weights are rounded but their running sums: errors of neighbours then cancel, and the sum
// of all is exact, so an even area keeps its value.
bool AxisWeights::RoundWeights(StopCounter& stop) {
  double largest = 0;
  for (const double weight : exact_) largest = std::max(largest, std::fabs(weight));
  precision_ = kMaxPrecision;
  while (largest * static_cast<double>(1 << precision_) > 32766) --precision_;
  const double unit = static_cast<double>(1 << precision_);
  weights_.assign(exact_.size(), 0);
  for (int64_t x = 0; x < key_.out; ++x) {
    const double* exact = this->exact(x);
    double sum = 0;
    int64_t before = 0;
    for (int64_t t = 0; t < count(x); ++t) {
      sum += exact[t];
      const bool last = t + 1 == count(x);
      const int64_t after = last ? int64_t{1} << precision_ : RoundedHalfUp(sum * unit);
      weights_[static_cast<size_t>(x * pairs_ * 2 + t)] = static_cast<int16_t>(after - before);
      before = after;
    }
    if (stop.Asked(count(x))) return false;
  }
  return true;
}

}  // namespace stoker
