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

}  // namespace stoker
