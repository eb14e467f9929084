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
  // As if all of other's values had been added here (Chan, Golub, LeVeque 1979).
  void Merge(const RunningStats& other);

  int64_t count() const { return count_; }
  double mean() const { return mean_; }  // 0 where empty
  double variance() const;               // of the sample (n - 1); 0 below two values
  double standard_deviation() const;
  double min() const { return min_; }  // +inf where empty
  double max() const { return max_; }  // -inf where empty

 private:
  int64_t count_ = 0;
  double mean_ = 0, m2_ = 0;
  double min_ = __builtin_inf(), max_ = -__builtin_inf();
};

// The value below which a share q (0 to 1) of the values lies, linearly interpolated between
// neighbours (type 7 of Hyndman and Fan 1996, as NumPy's default). NaN where `values` is empty.
double Quantile(std::span<const double> values, double q);
inline double Median(std::span<const double> values) { return Quantile(values, 0.5); }

}  // namespace stoker
