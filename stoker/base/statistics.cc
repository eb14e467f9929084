#include "stoker/base/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stoker {

void RunningStats::Add(double value) {
  count_ += 1;
  const double delta = value - mean_;
  mean_ += delta / static_cast<double>(count_);
  m2_ += delta * (value - mean_);
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
}

void RunningStats::Merge(const RunningStats& other) {
  if (other.count_ == 0) return;
  const auto own = static_cast<double>(count_);
  const auto theirs = static_cast<double>(other.count_);
  const double delta = other.mean_ - mean_;
  mean_ += delta * theirs / (own + theirs);
  m2_ += other.m2_ + delta * delta * own * theirs / (own + theirs);
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

double RunningStats::variance() const {
  return count_ < 2 ? 0.0 : m2_ / static_cast<double>(count_ - 1);
}

double RunningStats::standard_deviation() const { return std::sqrt(variance()); }

double Quantile(std::span<const double> values, double q) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double position = std::clamp(q, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// Whole degrees by the tables, those between them linearly in 1 / degrees; beyond the tables
// Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.5.
double StudentQuantile(double degrees) {
  constexpr double kOf2AndMore[] = {4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
  constexpr double kLast = 1 + static_cast<double>(std::size(kOf2AndMore));
  const double n = std::max(2.0, degrees);
  if (n < kLast) {
    const double below = std::floor(n);
    const auto at = static_cast<size_t>(below) - 2;
    const double share = (1 / below - 1 / n) / (1 / below - 1 / (below + 1));
    return kOf2AndMore[at] + share * (kOf2AndMore[at + 1] - kOf2AndMore[at]);
  }
  constexpr double kNormal = 1.959964;
  const double z = kNormal, z2 = z * z;
  const double g1 = z * (z2 + 1) / 4;
  const double g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
  const double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  const double g4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
  return z + (g1 + (g2 + (g3 + g4 / n) / n) / n) / n;
}

}  // namespace stoker
