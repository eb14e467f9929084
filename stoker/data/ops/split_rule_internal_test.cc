#include "stoker/data/ops/split_rule_internal.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stoker/base/testing.h"

namespace stoker::split_rule_internal_test {

const double kShares[] = {0.001, 0.1, 0.2, 1.0 / 3, 0.5, 0.6, 0.8, 0.99};

TEST(SplitRule, OfAnyFirstSamplesTheShareIsExactToOne) {
  for (const double share : kShares) {
    for (const uint64_t stratum : {0, 1, 2}) {
      const SplitRule rule = SplitRule::Share(share, 7);
      int64_t evals = 0;
      for (int64_t n = 0; n < 5000; ++n) {
        ASSERT_LE(std::abs(static_cast<double>(evals) - share * static_cast<double>(n)), 1)
            << share << ", " << n;
        evals += rule.IsEvalNumber(stratum, n) ? 1 : 0;
      }
    }
  }
}

TEST(SplitRule, OfAnyFirstSamplesEachFoldHasItsPartToOne) {
  for (const int64_t folds : {2, 3, 5, 10}) {
    std::vector<int64_t> counts(static_cast<size_t>(folds));
    for (int64_t n = 0; n < 1000; ++n) {
      int64_t in = 0;
      for (int64_t fold = 1; fold <= folds; ++fold) {
        if (!SplitRule::Fold(fold, folds, 3).IsEvalNumber(9, n)) continue;
        ++in;
        ++counts[static_cast<size_t>(fold - 1)];
      }
      ASSERT_EQ(in, 1) << "each sample is in one fold";
      for (const int64_t count : counts) ASSERT_LE(std::abs(count - n / folds), 1);
    }
  }
}

TEST(SplitRule, FoldsPartTheKeysAndALargerShareHasThoseOfASmallerOne) {
  for (uint64_t key = 0; key < 1000; ++key) {
    int in = 0;
    for (int64_t fold = 1; fold <= 4; ++fold)
      in += SplitRule::Fold(fold, 4, 3).IsEvalKey(key * 977) ? 1 : 0;
    EXPECT_EQ(in, 1);
    if (SplitRule::Share(0.1, 3).IsEvalKey(key)) {
      EXPECT_TRUE(SplitRule::Share(0.3, 3).IsEvalKey(key));
    }
  }
}

TEST(SplitRule, SharesOfKeysAreThoseOfIndependentDraws) {
  for (const double share : kShares) {
    constexpr int kKeys = 100000;
    int evals = 0;
    for (uint64_t key = 0; key < kKeys; ++key)
      evals += SplitRule::Share(share, 1).IsEvalKey(key) ? 1 : 0;
    const double spread = std::sqrt(share * (1 - share) * kKeys);
    EXPECT_NEAR(evals, share * kKeys, 5 * spread) << share;
  }
}

TEST(SplitRule, TheFirstSampleOfAClassIsTrainedOn) {
  for (const double share : kShares) {
    for (uint64_t stratum = 0; stratum < 200; ++stratum)
      EXPECT_FALSE(SplitRule::Share(share, stratum % 7).IsEvalNumber(stratum, 0)) << share;
  }
}

// Otherwise every fifth sample would do, and data may have a pattern of that length.
TEST(SplitRule, WhichOfACellIsDrawnDiffersFromCellToCellClassToClassAndSeedToSeed) {
  const auto pattern = [](uint64_t seed, uint64_t stratum) {
    std::vector<int64_t> places;
    for (int64_t n = 0; n < 500; ++n)
      if (SplitRule::Share(0.2, seed).IsEvalNumber(stratum, n)) places.push_back(n % 5);
    return places;
  };
  const std::vector<int64_t> places = pattern(1, 0);
  for (int64_t place = 0; place < 5; ++place) EXPECT_GT(std::ranges::count(places, place), 5);
  EXPECT_NE(pattern(2, 0), places);
  EXPECT_NE(pattern(1, 1), places);
}

// A run that is continued needs the same sides.
TEST(SplitRule, GivesTheGoldenSides) {
  const auto sides = [](const SplitRule& rule, bool keys) {
    std::string text;
    for (int64_t n = 0; n < 40; ++n) {
      const bool eval = keys ? rule.IsEvalKey(static_cast<uint64_t>(n)) : rule.IsEvalNumber(5, n);
      text += eval ? 'e' : '.';
    }
    return text;
  };
  EXPECT_EQ(sides(SplitRule::Share(0.2, 1), false), "..e....e....e......e.e.......e...e.....e");
  EXPECT_EQ(sides(SplitRule::Share(0.7, 1), false), ".eeee.ee.eeee.e.eee.ee.eee..eee.eeee..ee");
  EXPECT_EQ(sides(SplitRule::Fold(2, 3, 1), false), "e..e..e....ee....e..e..e.e..e...e.e.e...");
  EXPECT_EQ(sides(SplitRule::Share(0.2, 1), true), "..e.ee...ee..eee................e......e");
  EXPECT_EQ(sides(SplitRule::Fold(2, 3, 1), true), ".e....e.....e....eeee....e.......eee.e..");
}

}  // namespace stoker::split_rule_internal_test
