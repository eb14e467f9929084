#include "stoker/data/learn/column_moments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace stoker {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Values far from zero, of which sums of squares would lose all digits.
std::vector<float> RowOf(int i) {
  return {static_cast<float>(100000 + i % 7), static_cast<float>(0.001 * (i % 5)), 0.1f};
}

TEST(ColumnMoments, AreThoseOfTwoPassesOverTheValues) {
  constexpr int kRows = 1000;
  ColumnMoments moments(3);
  for (int i = 0; i < kRows; ++i) ASSERT_TRUE(moments.AddRow(std::span<const float>(RowOf(i))));
  for (size_t c = 0; c < 2; ++c) {
    double sum = 0, squares = 0;
    for (int i = 0; i < kRows; ++i) sum += static_cast<double>(RowOf(i)[c]);
    const double mean = sum / kRows;
    for (int i = 0; i < kRows; ++i) squares += std::pow(static_cast<double>(RowOf(i)[c]) - mean, 2);
    EXPECT_NEAR(moments.mean(c) / mean, 1, 1e-12);
    EXPECT_NEAR(moments.deviation(c) / std::sqrt(squares / kRows), 1, 1e-9);
    EXPECT_EQ(moments.count(c), kRows);
  }
  EXPECT_EQ(moments.deviation(2), 0) << "equal values";
}

TEST(ColumnMoments, LeaveNansOutAndCountThem) {
  ColumnMoments with_gaps(2), without(1);
  for (int i = 0; i < 100; ++i) {
    const auto value = static_cast<float>(i);
    const std::vector<float> row = {i % 3 == 0 ? kNan : value, value};
    ASSERT_TRUE(with_gaps.AddRow(std::span<const float>(row)));
    if (i % 3 != 0) {
      ASSERT_TRUE(without.AddRow(std::span<const float>(&value, 1)));
    }
  }
  EXPECT_EQ(with_gaps.missing(0), 34);
  EXPECT_EQ(with_gaps.count(0), 66);
  EXPECT_EQ(with_gaps.count(1), 100);
  EXPECT_NEAR(with_gaps.mean(0), without.mean(0), 1e-12);
  EXPECT_NEAR(with_gaps.deviation(0), without.deviation(0), 1e-12);
}

TEST(ColumnMoments, RefuseInfinitiesAndStayAsTheyWere) {
  ColumnMoments moments(1);
  const float one = 1, infinite = std::numeric_limits<float>::infinity();
  ASSERT_TRUE(moments.AddRow(std::span<const float>(&one, 1)));
  EXPECT_FALSE(moments.AddRow(std::span<const float>(&infinite, 1)));
  EXPECT_EQ(moments.count(0), 1);
  EXPECT_EQ(moments.mean(0), 1);
}

TEST(ColumnMoments, OfPartsThatAreMergedAreThoseOfAllValues) {
  ColumnMoments whole(1), merged(1);
  for (int part = 0; part < 10; ++part) {
    ColumnMoments of_part(1);
    for (int i = 0; i <= part; ++i) {
      const auto value = static_cast<float>(50 * part + i * i);
      ASSERT_TRUE(whole.AddRow(std::span<const float>(&value, 1)));
      ASSERT_TRUE(of_part.AddRow(std::span<const float>(&value, 1)));
    }
    const double n = of_part.count(0), deviation = of_part.deviation(0);
    merged.Merge(0, n, of_part.mean(0), deviation * deviation * n, part);
  }
  EXPECT_EQ(merged.count(0), whole.count(0));
  EXPECT_EQ(merged.missing(0), 45);
  EXPECT_NEAR(merged.mean(0), whole.mean(0), 1e-9);
  EXPECT_NEAR(merged.deviation(0), whole.deviation(0), 1e-9);
}

}  // namespace
}  // namespace stoker
