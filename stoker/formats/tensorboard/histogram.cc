#include "stoker/formats/tensorboard/histogram.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace stoker {
namespace {

std::vector<double> MakeLimits() {
  std::vector<double> above;
  for (double limit = 1e-12; limit < 1e20; limit *= 1.1) above.push_back(limit);
  above.push_back(std::numeric_limits<double>::max());
  std::vector<double> limits;
  for (size_t i = above.size(); i-- > 0;) limits.push_back(-above[i]);
  limits.push_back(0);
  limits.insert(limits.end(), above.begin(), above.end());
  return limits;
}

// Stretches of empty buckets become one.
void AddBuckets(const std::vector<int64_t>& counts, Histogram& histogram) {
  const std::span<const double> limits = HistogramLimits();
  for (size_t i = 0; i < counts.size(); ++i) {
    const bool more_empty = counts[i] == 0 && i + 1 < counts.size() && counts[i + 1] == 0;
    if (more_empty) continue;
    histogram.limits.push_back(limits[i]);
    histogram.counts.push_back(static_cast<double>(counts[i]));
  }
}

}  // namespace

std::span<const double> HistogramLimits() {
  static const std::vector<double> limits = MakeLimits();
  return limits;
}

Histogram MakeHistogram(std::span<const float> values) {
  const std::span<const double> limits = HistogramLimits();
  std::vector<int64_t> counts(limits.size());
  Histogram histogram;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    const double v = value;
    histogram.min = histogram.num == 0 ? v : std::min(histogram.min, v);
    histogram.max = histogram.num == 0 ? v : std::max(histogram.max, v);
    histogram.num += 1;
    histogram.sum += v;
    histogram.sum_squares += v * v;
    ++counts[static_cast<size_t>(std::ranges::upper_bound(limits, v) - limits.begin())];
  }
  AddBuckets(counts, histogram);
  return histogram;
}

}  // namespace stoker
