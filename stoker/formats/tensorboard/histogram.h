// Histograms as TensorBoard shows them; README.md has the rule of the buckets.
#pragma once

#include <span>
#include <vector>

namespace stoker {

struct Histogram {
  double min = 0, max = 0, num = 0, sum = 0, sum_squares = 0;
  std::vector<double> limits;  // upper ones, rising
  std::vector<double> counts;  // as many
};

// Of the finite values; without any it has one empty bucket. Sums are added in the order of the
// values. Cost: a search among 1,551 limits for each, about 20 ns.
Histogram MakeHistogram(std::span<const float> values);

// All upper limits.
std::span<const double> HistogramLimits();

}  // namespace stoker
