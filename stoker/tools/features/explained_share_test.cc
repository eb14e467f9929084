#include "stoker/tools/features/explained_share.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "stoker/base/random.h"

namespace stoker {
namespace explained_share_test {

SampledColumn Numbers(int rows, const std::function<double(int)>& number) {
  SampledColumn column{.numbers = true};
  for (int i = 0; i < rows; ++i) column.cells.push_back(fmt::format("{}", number(i)));
  return column;
}

SampledColumn Texts(int rows, const std::function<int(int)>& word) {
  SampledColumn column;
  for (int i = 0; i < rows; ++i) column.cells.push_back(fmt::format("word{}", word(i)));
  return column;
}

double Noise(int i, uint64_t seed) { return Rng(seed, 0, static_cast<uint64_t>(i), 0).Normal(); }

TEST(ExplainedShare, OfANumberByItselfIsNearlyAllAndByNoiseNothing) {
  const SampledColumn target = Numbers(2000, [](int i) { return Noise(i, 1); });
  EXPECT_GT(ExplainedShare(target, target), 0.9);
  EXPECT_LT(ExplainedShare(Numbers(2000, [](int i) { return Noise(i, 2); }), target), 0.02);
}

TEST(ExplainedShare, IsThatOfTheVarianceWithinTheGroups) {
  // Two groups at a distance of 2 with noise of 1 around them: 1 of 2 parts.
  const SampledColumn target = Numbers(20'000, [](int i) { return 2 * (i % 2) + Noise(i, 1); });
  EXPECT_NEAR(ExplainedShare(Texts(20'000, [](int i) { return i % 2; }), target), 0.5, 0.02);
}

TEST(ExplainedShare, OfAClassByItsOwnWordsIsAllAndByHalfOfItsBitsHalf) {
  const SampledColumn target = Texts(4000, [](int i) { return i % 4; });
  EXPECT_NEAR(ExplainedShare(Texts(4000, [](int i) { return i % 4 + 10; }), target), 1, 0.01);
  EXPECT_NEAR(ExplainedShare(Texts(4000, [](int i) { return i % 2; }), target), 0.5, 0.01);
}

TEST(ExplainedShare, OfNamesThatAreThereOnceIsNothing) {
  const SampledColumn names = Texts(1000, [](int i) { return i; });
  EXPECT_EQ(ExplainedShare(names, Numbers(1000, [](int i) { return Noise(i, 1); })), 0);
  EXPECT_LT(ExplainedShare(names, Texts(1000, [](int i) { return Noise(i, 1) > 0; })), 0.01);
}

TEST(ExplainedShare, CountsAMissingNumberAsAGroup) {
  SampledColumn column = Numbers(1000, [](int i) { return Noise(i, 3); });
  for (size_t i = 0; i < 1000; i += 2) column.cells[i].clear();
  const SampledColumn target = Numbers(1000, [](int i) { return i % 2 == 0 ? 10 : Noise(i, 4); });
  EXPECT_GT(ExplainedShare(column, target), 0.9);
}

TEST(ExplainedShare, OfAConstantTargetIsNothing) {
  EXPECT_EQ(
      ExplainedShare(Texts(50, [](int i) { return i % 2; }), Texts(50, [](int) { return 1; })), 0);
  EXPECT_EQ(
      ExplainedShare(Texts(50, [](int i) { return i % 2; }), Numbers(50, [](int) { return 1; })),
      0);
}

TEST(IsTargetInDisguise, WhereItIsTheSameRenamedOrInOtherUnits) {
  const SampledColumn words = Texts(60, [](int i) { return i % 3; });
  EXPECT_TRUE(IsTargetInDisguise(words, words));
  EXPECT_TRUE(IsTargetInDisguise(Numbers(60, [](int i) { return 7 - i % 3; }), words));
  EXPECT_FALSE(IsTargetInDisguise(Texts(60, [](int i) { return i % 2; }), words));
  EXPECT_FALSE(IsTargetInDisguise(Texts(60, [](int i) { return i; }), words))
      << "names of the rows";

  const SampledColumn dollars = Numbers(200, [](int i) { return 100 + Noise(i, 1); });
  const SampledColumn euros = Numbers(200, [](int i) { return 0.9 * (100 + Noise(i, 1)) - 3; });
  EXPECT_TRUE(IsTargetInDisguise(euros, dollars));
  EXPECT_FALSE(IsTargetInDisguise(
      Numbers(200, [](int i) { return 100 + Noise(i, 1) + 0.1 * Noise(i, 2); }), dollars));
}

TEST(IsTargetInDisguise, IsNotSaidOfNoiseWithOneRowFarOutInBoth) {
  const auto column = [](uint64_t seed) {
    return Numbers(1000, [seed](int i) { return i == 7 ? 1e6 : Noise(i, seed); });
  };
  EXPECT_FALSE(IsTargetInDisguise(column(1), column(2)));
}

TEST(ExplainedShare, OfNumbersBeyondWhatCanBeSquaredIsNothing) {
  const SampledColumn target = Numbers(100, [](int i) { return i % 2 == 0 ? 1e300 : -1e300; });
  EXPECT_EQ(ExplainedShare(Texts(100, [](int i) { return i % 3; }), target), 0);
}

TEST(IsTargetInDisguise, IsNotSaidOfAFewRows) {
  EXPECT_FALSE(IsTargetInDisguise(Texts(8, [](int i) { return i % 2; }),
                                  Texts(8, [](int i) { return i % 2 + 5; })));
}

}  // namespace explained_share_test
}  // namespace stoker
