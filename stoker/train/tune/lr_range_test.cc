#include "stoker/train/tune/lr_range.h"

#include <cmath>
#include <functional>
#include <limits>

#include "stoker/base/testing.h"

namespace stoker::lr_range_test {

// The curve of a loss that is a function of the rate, without smoothing.
LrCurve CurveOf(const LrRangeOptions& options, const std::function<double(double)>& loss) {
  LrCurve curve;
  for (int64_t i = 0; i < options.steps; ++i) {
    curve.lr.push_back(LrOfStep(options, i));
    curve.loss.push_back(loss(curve.lr.back()));
    curve.raw.push_back(curve.loss.back());
  }
  return curve;
}

// Values: fastai's suggestions for this loss.
TEST(LrRange, SuggestsWhatFastaiSuggests) {
  const auto loss = [](double lr) {
    return 2.3 / (1 + std::exp(2 * (std::log10(lr) + 2.5))) + std::max(0.0, 8 * (lr - 0.3));
  };
  const auto suggestions = SuggestLr(CurveOf({}, loss));
  ASSERT_TRUE(suggestions);
  EXPECT_NEAR(suggestions->valley / 2.7542287e-4, 1, 1e-6);
  EXPECT_NEAR(suggestions->steepest / 3.0199517e-3, 1, 1e-6);
  EXPECT_NEAR(suggestions->minimum_tenth / 2.5118864e-2, 1, 1e-6);
}

TEST(LrRange, RisesByAFactorOrByAnAmount) {
  EXPECT_NEAR(LrOfStep({}, 50), 1e-3, 1e-12);
  EXPECT_EQ(LrOfStep({}, 0), 1e-7);
  EXPECT_NEAR(LrOfStep({.low = 1, .high = 3, .steps = 20, .linear = true}, 5), 1.5, 1e-12);
}

TEST(LrRange, EndsWhereTheMeanLossHasDivergedFromItsLowest) {
  LrRangeTest test({.smooth = 0});
  EXPECT_TRUE(test.Add(1, 2));
  EXPECT_TRUE(test.Add(2, 1));
  EXPECT_TRUE(test.Add(3, 4));  // four times the lowest, not more
  EXPECT_FALSE(test.Add(4, 4.1));
  EXPECT_TRUE(test.diverged());
  EXPECT_EQ(test.curve().lr.size(), 4u);
}

TEST(LrRange, DoesNotEndWhereOneLossAloneIsHigh) {
  LrRangeTest test({.smooth = 0.9});
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(test.Add(i + 1, 1));
  EXPECT_TRUE(test.Add(21, 9));
  EXPECT_LT(test.curve().loss.back(), 2);
  EXPECT_EQ(test.curve().raw.back(), 9);
}

TEST(LrRange, EndsWhereALossIsNotFiniteAndLeavesItOut) {
  for (const double broken :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    LrRangeTest test({});
    EXPECT_TRUE(test.Add(1, 2));
    EXPECT_FALSE(test.Add(2, broken));
    EXPECT_TRUE(test.diverged());
    EXPECT_EQ(test.curve().lr.size(), 1u);
  }
}

TEST(LrRange, SuggestsNothingWhereTheLossNeverFallsOrPointsAreFew) {
  EXPECT_FALSE(SuggestLr({}));
  EXPECT_FALSE(SuggestLr(CurveOf({}, [](double lr) { return 1 + lr; })));
  EXPECT_FALSE(SuggestLr(CurveOf({}, [](double) { return 1.0; })));
  EXPECT_TRUE(SuggestLr(CurveOf({.steps = 20}, [](double lr) { return -lr; })));
  LrCurve few = CurveOf({.steps = 20}, [](double lr) { return -lr; });
  for (auto* column : {&few.lr, &few.loss, &few.raw}) column->resize(15);
  EXPECT_FALSE(SuggestLr(few));
}

TEST(LrRange, RefusesRangesThatAreNone) {
  for (const LrRangeOptions& options : {LrRangeOptions{.low = 0},
                                        {.low = 1, .high = 1},
                                        {.high = INFINITY},
                                        {.steps = 19},
                                        {.smooth = 1},
                                        {.diverged = 1},
                                        {.low = NAN}}) {
    EXPECT_EQ(CheckLrRange(options).code(), StatusCode::kInvalidArgument);
  }
  STOKER_EXPECT_OK(CheckLrRange({}));
}

}  // namespace stoker::lr_range_test
