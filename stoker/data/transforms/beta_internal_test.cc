#include "stoker/data/transforms/beta_internal.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stoker/base/testing.h"

namespace stoker::beta_internal_test {

TEST(DrawSymmetricBeta, HasTheMomentsOfTheDistribution) {
  constexpr int kDraws = 40'000;
  for (const double alpha : {0.1, 0.2, 0.5, 1.0, 2.0, 8.0}) {
    double sum = 0, squares = 0, fourths = 0;
    for (uint64_t i = 0; i < kDraws; ++i) {
      Rng rng(/*seed=*/1, /*epoch=*/0, i, /*stage=*/2);
      const double x = DrawSymmetricBeta(rng, alpha) - 0.5;
      ASSERT_GE(x, -0.5);
      ASSERT_LE(x, 0.5);
      sum += x;
      squares += x * x;
      fourths += x * x * x * x;
    }
    // Of Beta(a, a): variance 1 / (4 (2a + 1)), fourth central moment 3 / (16 (2a + 1) (2a + 3)).
    // Six standard deviations of each estimate.
    const double variance = 1 / (4 * (2 * alpha + 1));
    const double fourth = 3 / (16 * (2 * alpha + 1) * (2 * alpha + 3));
    EXPECT_NEAR(sum / kDraws, 0, 6 * std::sqrt(variance / kDraws)) << alpha;
    EXPECT_NEAR(squares / kDraws, variance, 6 * std::sqrt((fourth - variance * variance) / kDraws))
        << alpha;
    EXPECT_NEAR(fourths / kDraws, fourth, 0.002) << alpha;
  }
}

TEST(DrawSymmetricBeta, OfOneIsUniform) {
  constexpr int kDraws = 20'000;
  std::vector<int> counts(10);
  for (uint64_t i = 0; i < kDraws; ++i) {
    Rng rng(3, 0, i, 0);
    ++counts[static_cast<size_t>(std::min(9.0, DrawSymmetricBeta(rng, 1) * 10))];
  }
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 10, 6 * std::sqrt(kDraws * 0.09));
}

TEST(DrawSymmetricBeta, OfAVerySmallAlphaIsNearlyAlwaysZeroOrOne) {
  int low = 0, high = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    Rng rng(4, 0, i, 0);
    const double x = DrawSymmetricBeta(rng, kLeastAlpha);
    EXPECT_TRUE(x >= 0 && x <= 1) << x;  // not NaN either
    if (x < 1e-9) ++low;
    if (x > 1 - 1e-9) ++high;
  }
  EXPECT_GT(low, 400);
  EXPECT_GT(high, 400);
}

}  // namespace stoker::beta_internal_test
