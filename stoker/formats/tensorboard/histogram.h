// Histograms as TensorBoard shows them; README.md has the rule of the buckets.
#pragma once

#include <span>
#include <vector>

namespace stoker {

struct Histogram {
  double min = 0, max = 0, num = 0, sum = 0, sum_squares = 0;
  std::vector<double> limits;  // upper ones, ascending
  std::vector<double> counts;  // as many
};

// Returns the histogram of the finite values; without any it has one empty bucket. Sums are
// accumulated in the order of the values. Cost: a search among 1,551 limits for each value, about
// 20 ns.
Histogram MakeHistogram(std::span<const float> values);

// Returns all upper limits.
std::span<const double> HistogramLimits();

}  // namespace stoker
