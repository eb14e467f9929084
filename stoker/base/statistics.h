// Summaries of measurements.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stoker {

// Mean and variance in one pass without cancellation (Welford, Technometrics 1962). Not
// thread-safe.
class RunningStats {
 public:
  void Add(double value);
  // Adds all of other's values (Chan, Golub, LeVeque 1979).
  void Merge(const RunningStats& other);

  int64_t count() const { return count_; }
  double mean() const { return mean_; }  // 0 if empty
  double variance() const;               // of the sample (n - 1); 0 below two values
  double standard_deviation() const;
  double min() const { return min_; }  // +inf if empty
  double max() const { return max_; }  // -inf if empty

 private:
  int64_t count_ = 0;
  double mean_ = 0, m2_ = 0;
  double min_ = __builtin_inf(), max_ = -__builtin_inf();
};

// Returns the q-quantile, 0 <= q <= 1, linearly interpolated between neighbours (type 7 of Hyndman
// and Fan 1996, NumPy's default). NaN if `values` is empty.
double Quantile(std::span<const double> values, double q);
inline double Median(std::span<const double> values) { return Quantile(values, 0.5); }

// Returns the 97.5 % quantile of Student's t distribution, within 1 %; fewer than 2 degrees of
// freedom count as 2.
double StudentQuantile(double degrees);

}  // namespace stoker
