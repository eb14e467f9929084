#include "stoker/tools/compare/noise.h"

#include <cmath>
#include <vector>

#include "stoker/base/random.h"
#include "stoker/base/testing.h"

namespace stoker::noise_test {

std::vector<RateWindow> Windows(double rate, double noise, size_t count, uint64_t seed) {
  Rng random(seed, 0, 0, 0);
  std::vector<RateWindow> windows;
  for (size_t i = 0; i < count; ++i)
    windows.push_back({.amount = 1000, .seconds = 1000 / rate * (1 + noise * random.Normal())});
  return windows;
}

TEST(CompareRates, FindsADifferenceBeyondNoiseAndNoneWithinIt) {
  const auto base = Windows(1000, 0.05, 50, 1);
  const NoisyChange faster = CompareRates(base, Windows(1120, 0.05, 50, 2));
  EXPECT_EQ(faster.verdict, NoiseVerdict::kHigher);
  EXPECT_NEAR(faster.change, 1.12, 0.04);
  EXPECT_LT(*faster.low, faster.change);
  EXPECT_GT(*faster.high, faster.change);
  EXPECT_EQ(CompareRates(Windows(1120, 0.05, 50, 2), base).verdict, NoiseVerdict::kLower);
  EXPECT_EQ(CompareRates(base, Windows(1002, 0.05, 50, 5)).verdict, NoiseVerdict::kNoise);
  EXPECT_EQ(CompareRates(base, base).verdict, NoiseVerdict::kNoise);
}

TEST(CompareRates, IntervalsHoldTheTruthAboutAsOftenAsTheyPromise) {
  for (const size_t windows : {4, 10, 40}) {
    int held = 0;
    constexpr int kTrials = 400;
    for (int trial = 0; trial < kTrials; ++trial) {
      const auto seed = static_cast<uint64_t>(trial) * 2;
      const NoisyChange change =
          CompareRates(Windows(500, 0.1, windows, seed), Windows(600, 0.1, windows, seed + 1));
      held += *change.low <= 1.2 && 1.2 <= *change.high;
    }
    EXPECT_GE(held, kTrials * 91 / 100) << windows;
  }
}

TEST(CompareRates, AreLessSureWhereNeighboursAreAlike) {
  // Slow for half of the time: the windows are no independent samples.
  std::vector<RateWindow> drifting, mixed;
  for (int i = 0; i < 40; ++i) {
    drifting.push_back({1000, i < 20 ? 1.0 : 1.2});
    mixed.push_back({1000, i % 2 == 0 ? 1.0 : 1.2});
  }
  const NoisyChange unsure = CompareRates(drifting, drifting), sure = CompareRates(mixed, mixed);
  EXPECT_GT(*unsure.high - *unsure.low, 2 * (*sure.high - *sure.low));
}

TEST(CompareRates, OfFewWindowsGiveAFigureAndNoVerdict) {
  const NoisyChange change = CompareRates(Windows(1000, 0, 3, 1), Windows(2000, 0, 50, 1));
  EXPECT_NEAR(change.change, 2, 1e-9);
  EXPECT_EQ(change.verdict, NoiseVerdict::kUnknown);
  EXPECT_FALSE(change.low.has_value());
  EXPECT_TRUE(std::isnan(CompareRates({}, Windows(1, 0, 9, 1)).change));
  EXPECT_TRUE(CompareRates({}, {}).ToJson()["change"].is_null());
}

TEST(CompareRates, OfEqualWindowsAreExact) {
  const NoisyChange change = CompareRates(Windows(1000, 0, 9, 1), Windows(1500, 0, 9, 1));
  EXPECT_EQ(change.verdict, NoiseVerdict::kHigher);
  EXPECT_NEAR(*change.low, 1.5, 1e-9);
  EXPECT_NEAR(*change.high, 1.5, 1e-9);
}

TEST(CompareRates, LeaveOutWindowsWithoutTimeOrNumbers) {
  auto windows = Windows(1000, 0.01, 20, 1);
  windows.push_back({1000, 0});
  windows.push_back({std::nan(""), 1});
  windows.push_back({1000, INFINITY});
  windows.push_back({-5, 1});
  EXPECT_NEAR(CompareRates(windows, Windows(1000, 0.01, 20, 1)).change, 1, 1e-9);
}

TEST(CompareShares, KnowTheNoiseOfSoManySamples) {
  EXPECT_EQ(CompareShares(0.90, 10'000, 0.91, 10'000).verdict, NoiseVerdict::kHigher);
  EXPECT_EQ(CompareShares(0.91, 10'000, 0.90, 10'000).verdict, NoiseVerdict::kLower);
  EXPECT_EQ(CompareShares(0.90, 100, 0.91, 100).verdict, NoiseVerdict::kNoise);
  const NoisyChange change = CompareShares(0.5, 100, 0.5, 100);
  EXPECT_NEAR(*change.high, 1.96 * std::sqrt(2 * 0.25 / 102), 1e-3);
}

TEST(CompareShares, AtTheEndsAreNotSureOfEverything) {
  EXPECT_EQ(CompareShares(1, 5, 0, 5).verdict, NoiseVerdict::kLower);
  EXPECT_EQ(CompareShares(1, 20, 0.95, 20).verdict, NoiseVerdict::kNoise);
  EXPECT_EQ(CompareShares(0, 1, 1, 1).verdict, NoiseVerdict::kNoise);
}

TEST(CompareShares, OfNoSamplesOrOfWhatIsNoShareAreUnknown) {
  EXPECT_EQ(CompareShares(0.5, 0, 0.6, 10).verdict, NoiseVerdict::kUnknown);
  EXPECT_EQ(CompareShares(0.5, 10, 1.6, 10).verdict, NoiseVerdict::kUnknown);
  EXPECT_EQ(CompareShares(std::nan(""), 10, 0.6, 10).verdict, NoiseVerdict::kUnknown);
}

}  // namespace stoker::noise_test
