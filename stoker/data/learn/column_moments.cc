#include "stoker/data/learn/column_moments.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stoker {
namespace {

// Whether all values are finite, without a branch for each: 0 times any other value is a NaN.
bool AllFinite(std::span<const float> row) {
  float sum = 0;
  for (const float value : row) sum += value * 0.0f;
  return sum == 0;
}

}  // namespace

int64_t ColumnMoments::bytes() const {
  return static_cast<int64_t>((mean_.size() + m2_.size() + counts_.size()) * sizeof(double) +
                              missing_.size() * sizeof(int64_t));
}

// Each column on its own, so the compiler computes several at once with the same result.
template <typename T>
void ColumnMoments::AddWhole(std::span<const T> row) {
  rows_ += 1;
  const double share = 1 / rows_;
  double* const mean = mean_.data();
  double* const m2 = m2_.data();
  for (size_t i = 0; i < row.size(); ++i) {
    const auto value = static_cast<double>(row[i]);
    const double before = value - mean[i];
    mean[i] += before * share;
    m2[i] += before * (value - mean[i]);
  }
}

void ColumnMoments::AddWithMissing(std::span<const float> row) {
  CountEach();
  for (size_t i = 0; i < row.size(); ++i) {
    const bool given = !std::isnan(row[i]);
    missing_[i] += given ? 0 : 1;
    counts_[i] += given ? 1 : 0;
    const double value = given ? static_cast<double>(row[i]) : mean_[i];
    const double before = value - mean_[i];
    mean_[i] += before / std::max(counts_[i], 1.0);
    m2_[i] += before * (value - mean_[i]);
  }
}

void ColumnMoments::CountEach() {
  if (counts_.empty()) counts_.assign(columns(), rows_);
}

bool ColumnMoments::AddRow(std::span<const float> row) {
  const bool whole = AllFinite(row);
  if (whole && counts_.empty()) {
    AddWhole(row);
    return true;
  }
  if (!whole && std::ranges::any_of(row, [](float value) { return std::isinf(value); }))
    return false;
  AddWithMissing(row);
  return true;
}

bool ColumnMoments::AddRow(std::span<const uint8_t> row) {
  AddWhole(row);
  return true;
}

void ColumnMoments::Merge(size_t column, double count, double mean, double m2, int64_t missing) {
  CountEach();
  missing_[column] += missing;
  if (count == 0) return;
  const double had = counts_[column], all = had + count;
  const double distance = mean - mean_[column];
  mean_[column] += distance * (count / all);
  m2_[column] += m2 + distance * distance * (had * count / all);
  counts_[column] = all;
}

double ColumnMoments::deviation(size_t column) const {
  const double n = count(column);
  if (n == 0) return 0;
  const double variance = m2_[column] / n;
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  const double error = n * mean_[column] * kEpsilon;
  return variance <= n * kEpsilon * variance + error * error ? 0 : std::sqrt(variance);
}

}  // namespace stoker
