#include "stoker/doctor/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace stoker::comparison_test {

TEST(GainOfRounds, IsTheMedianRatioWithAnInterval) {
  const std::vector<Round> rounds = {{100, 200}, {50, 101}, {80, 159}};
  const Gain gain = GainOfRounds(rounds);
  EXPECT_NEAR(gain.median, 2, 1e-9);
  EXPECT_LT(gain.low, 2);
  EXPECT_GT(gain.low, 1.9);
  EXPECT_GT(gain.high, 2);
  EXPECT_TRUE(gain.Helps());
}

TEST(GainOfRounds, NoiseHelpsNobody) {
  const std::vector<Round> rounds = {{100, 130}, {100, 90}, {100, 125}, {100, 99}};
  EXPECT_FALSE(GainOfRounds(rounds).Helps());
}

TEST(GainOfRounds, OneSlowRoundMovesTheMedianLittle) {
  const std::vector<Round> rounds = {{100, 200}, {100, 200}, {100, 20}, {100, 200}, {100, 200}};
  EXPECT_NEAR(GainOfRounds(rounds).median, 2, 1e-9);
}

TEST(GainOfRounds, TwoRoundsProveNothing) {
  const std::vector<Round> rounds = {{100, 200}, {100, 200}};
  EXPECT_FALSE(GainOfRounds(rounds).Helps());
}

TEST(GainOfRounds, RoundsThatWereNotMeasuredDoNotCount) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Round> rounds = {{100, 0}, {nan, 1}, {0, 5}, {-1, 5}, {1, INFINITY}};
  const Gain gain = GainOfRounds(rounds);
  EXPECT_EQ(gain.rounds, 0);
  EXPECT_EQ(gain.median, 1);
  EXPECT_EQ(gain.low, 0);
  EXPECT_FALSE(gain.Helps());
  EXPECT_EQ(GainOfRounds({}).rounds, 0);
}

}  // namespace stoker::comparison_test
