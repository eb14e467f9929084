// Mean and deviation of the columns of rows, in one pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stoker {

// Means and sums of squared distances, as float64, updated value by value (Welford, Technometrics
// 1962) or merged (Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for
// computing sample variances", 1979). NaNs are counted and left out. Equal calls give equal bytes
// on every CPU. One thread at a time.
class ColumnMoments {
 public:
  explicit ColumnMoments(size_t columns) : mean_(columns), m2_(columns), missing_(columns) {}

  size_t columns() const { return mean_.size(); }
  int64_t bytes() const;

  // Adds one value to each column. Returns false, having added nothing, if one is infinite.
  bool AddRow(std::span<const float> row);
  bool AddRow(std::span<const uint8_t> row);

  // Adds `count` more values of one column, which have this mean and this sum of squared distances
  // from it, and `missing` NaNs.
  void Merge(size_t column, double count, double mean, double m2, int64_t missing);

  int64_t missing(size_t column) const { return missing_[column]; }
  double count(size_t column) const { return counts_.empty() ? rows_ : counts_[column]; }
  // Returns the mean; 0 without a value.
  double mean(size_t column) const { return mean_[column]; }
  // Returns the deviation of the population; exactly 0 where the values are equal as far as such
  // sums can tell (by Chan, Golub and LeVeque's bound of the error of the sum).
  double deviation(size_t column) const;

 private:
  template <typename T>
  void AddWhole(std::span<const T> row);
  void AddWithMissing(std::span<const float> row);
  // Goes over to a count for each column.
  void CountEach();

  double rows_ = 0;             // of each column, as long as all have the same
  std::vector<double> counts_;  // of each; empty until then
  std::vector<double> mean_, m2_;
  std::vector<int64_t> missing_;
};

}  // namespace stoker
