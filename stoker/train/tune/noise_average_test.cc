#include "stoker/train/tune/noise_average.h"

#include <cmath>
#include <limits>
#include <vector>

#include "stoker/base/random.h"
#include "stoker/base/testing.h"

namespace stoker::noise_average_test {

double NormOf(const std::vector<double>& values) {
  double squared = 0;
  for (const double value : values) squared += value * value;
  return squared;
}

// Over all pairs of samples, without repetition, the means of the estimates are those of the whole
// population: |G|^2 - S / N and S, with S the covariance's trace over N - 1. Nothing is left to
// chance.
TEST(NoiseAverage, EstimatesAreRightOnTheMeanOfAllPairs) {
  const std::vector<std::vector<double>> gradients = {{1, 2}, {3, -1}, {0.5, 4}, {2, 2}, {-1, 1}};
  const auto n = static_cast<double>(gradients.size());
  std::vector<double> mean(2);
  for (const auto& g : gradients) {
    for (size_t k = 0; k < 2; ++k) mean[k] += g[k] / n;
  }
  double trace = 0;
  for (const auto& g : gradients) trace += NormOf({g[0] - mean[0], g[1] - mean[1]}) / (n - 1);
  double noise = 0, gradient = 0, pairs = 0;
  for (size_t i = 0; i < gradients.size(); ++i) {
    for (size_t j = 0; j < gradients.size(); ++j) {
      if (i == j) continue;
      const std::vector<double> both = {(gradients[i][0] + gradients[j][0]) / 2,
                                        (gradients[i][1] + gradients[j][1]) / 2};
      const NoiseEstimate estimate = EstimateNoise({1, NormOf(gradients[i])}, {2, NormOf(both)});
      noise += estimate.noise;
      gradient += estimate.gradient;
      pairs += 1;
    }
  }
  EXPECT_NEAR(noise / pairs, trace, 1e-12);
  EXPECT_NEAR(gradient / pairs, NormOf(mean) - trace / n, 1e-12);
}

TEST(NoiseAverage, OfGaussianGradientsIsWhatTheyWereMadeWith) {
  // Gradient (3, 4), noise of variance 50 in each of two directions: B_simple = 100 / 25.
  Rng rng(/*seed=*/1, /*epoch=*/0, /*index=*/0, /*stage=*/0);
  const auto draw = [&](double samples) {
    const auto normal = [&] {
      double sum = -6;
      for (int i = 0; i < 12; ++i) sum += static_cast<double>(rng.Below(1 << 24)) / (1 << 24);
      return sum * std::sqrt(50 / samples);
    };
    return std::vector<double>{3 + normal(), 4 + normal()};
  };
  NoiseAverage scale(/*smooth=*/0.9999);
  std::optional<double> found;
  for (int i = 0; i < 40'000; ++i) {
    const auto first = draw(8), second = draw(8);
    const std::vector<double> both = {(first[0] + second[0]) / 2, (first[1] + second[1]) / 2};
    found = scale.Add({8, NormOf(first)}, {16, NormOf(both)});
  }
  ASSERT_TRUE(found);
  EXPECT_NEAR(*found, 4, 0.2);
}

TEST(NoiseAverage, SaysNothingWhereTheGradientIsLostInTheNoise) {
  NoiseAverage scale(0.5);
  EXPECT_FALSE(scale.Add({1, 10}, {2, 1}));             // |G|^2 = (2 - 10) / 1
  EXPECT_FALSE(NoiseAverage(0.5).Add({1, 2}, {2, 3}));  // S = -1 / 0.5
  NoiseAverage broken(0.5);
  EXPECT_FALSE(broken.Add({1, std::numeric_limits<double>::infinity()}, {2, 1}));
  const auto after = broken.Add({1, 3}, {2, 2});  // |G|^2 = 1, S = 2
  ASSERT_TRUE(after);
  EXPECT_DOUBLE_EQ(*after, 2);
}

TEST(NoiseAverage, GoesOnFromItsStateAsIfItHadNotStopped) {
  NoiseAverage first(0.9);
  first.Add({1, 3}, {2, 2});
  NoiseAverage second(0.9);
  STOKER_ASSERT_OK(second.Restore(Json::parse(first.Save().dump())));
  EXPECT_EQ(second.scale(), first.scale());
  EXPECT_EQ(first.Add({1, 7}, {2, 4}), second.Add({1, 7}, {2, 4}));
  EXPECT_EQ(second.Restore({{"gradient", {1}}}).code(), StatusCode::kDataLoss);
}

}  // namespace stoker::noise_average_test
