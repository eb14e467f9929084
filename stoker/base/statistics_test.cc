#include "stoker/base/statistics.h"

#include <cmath>
#include <vector>

#include "stoker/base/random.h"
#include "stoker/base/testing.h"

namespace stoker::statistics_test {

TEST(RunningStats, GivesTheTextbookValues) {
  RunningStats stats;
  for (const double value : {2, 4, 4, 4, 5, 5, 7, 9}) stats.Add(value);
  EXPECT_EQ(stats.count(), 8);
  EXPECT_DOUBLE_EQ(stats.mean(), 5);
  EXPECT_DOUBLE_EQ(stats.variance(), 32.0 / 7.0);
  EXPECT_DOUBLE_EQ(stats.standard_deviation(), std::sqrt(32.0 / 7.0));
  EXPECT_EQ(stats.min(), 2);
  EXPECT_EQ(stats.max(), 9);
}

TEST(RunningStats, IsDefinedWhereThereIsLittle) {
  RunningStats stats;
  EXPECT_EQ(stats.mean(), 0);
  EXPECT_EQ(stats.variance(), 0);
  EXPECT_EQ(stats.min(), INFINITY);
  stats.Add(3);
  EXPECT_EQ(stats.mean(), 3);
  EXPECT_EQ(stats.variance(), 0);
}

// The sum of squares would lose every digit of a variance of 1 at 1e9.
TEST(RunningStats, DoesNotCancelFarFromZero) {
  RunningStats stats;
  for (const double value : {1e9 - 1, 1e9, 1e9 + 1}) stats.Add(value);
  EXPECT_DOUBLE_EQ(stats.variance(), 1);
}

TEST(RunningStats, MergingIsAddingAllValues) {
  Rng rng(1, 0, 0, 0);
  RunningStats all, left, right, empty;
  for (int i = 0; i < 1000; ++i) {
    const double value = rng.Normal() + i;
    all.Add(value);
    (i % 3 == 0 ? left : right).Add(value);
  }
  left.Merge(right);
  left.Merge(empty);
  empty.Merge(left);
  for (const RunningStats& merged : {left, empty}) {
    EXPECT_EQ(merged.count(), all.count());
    EXPECT_NEAR(merged.mean(), all.mean(), 1e-9);
    EXPECT_NEAR(merged.variance(), all.variance(), 1e-6);
    EXPECT_EQ(merged.min(), all.min());
    EXPECT_EQ(merged.max(), all.max());
  }
}

// numpy.quantile([7, 1, 3, 10], q) of NumPy 1.24.
TEST(Quantile, InterpolatesAsNumPyDoes) {
  const std::vector<double> values = {7, 1, 3, 10};
  EXPECT_DOUBLE_EQ(Quantile(values, 0), 1);
  EXPECT_DOUBLE_EQ(Quantile(values, 0.25), 2.5);
  EXPECT_DOUBLE_EQ(Quantile(values, 0.5), 5);
  EXPECT_DOUBLE_EQ(Quantile(values, 0.9), 9.1);
  EXPECT_DOUBLE_EQ(Quantile(values, 1), 10);
  EXPECT_DOUBLE_EQ(Median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(Quantile(std::vector<double>{4}, 0.3), 4);
  EXPECT_TRUE(std::isnan(Median(std::vector<double>{})));
}

TEST(StudentQuantile, IsThatOfTheTables) {
  EXPECT_NEAR(StudentQuantile(2), 4.303, 0.043);
  EXPECT_NEAR(StudentQuantile(3), 3.182, 0.01);
  EXPECT_NEAR(StudentQuantile(10), 2.228, 0.001);
  EXPECT_NEAR(StudentQuantile(1e9), 1.960, 0.001);
  for (double n = 2; n < 30; n += 0.1) EXPECT_GT(StudentQuantile(n), StudentQuantile(n + 0.1)) << n;
  EXPECT_EQ(StudentQuantile(0), StudentQuantile(2));
}

}  // namespace stoker::statistics_test
