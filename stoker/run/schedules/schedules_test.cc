// Golden values: computed in float64 with PyTorch, where it has the schedule, and by the formula in
// the header else.
#include <cmath>

#include "stoker/base/testing.h"
#include "stoker/run/evaluation.h"
#include "stoker/run/schedules/constant_schedule.h"
#include "stoker/run/schedules/cosine_schedule.h"
#include "stoker/run/schedules/cyclic_schedule.h"
#include "stoker/run/schedules/exponential_schedule.h"
#include "stoker/run/schedules/linear_schedule.h"
#include "stoker/run/schedules/multi_step_schedule.h"
#include "stoker/run/schedules/one_cycle_schedule.h"
#include "stoker/run/schedules/plateau_schedule.h"
#include "stoker/run/schedules/polynomial_schedule.h"
#include "stoker/run/schedules/step_schedule.h"

namespace stoker::schedules_test {

constexpr double kRelative = 1e-6;

template <typename Kind>
std::unique_ptr<Schedule> Built(const Kind& kind, int64_t total_steps,
                                int64_t steps_per_epoch = 1) {
  auto built = kind.Build({.total_steps = total_steps, .steps_per_epoch = steps_per_epoch});
  EXPECT_THAT(built, IsOk());
  return *std::move(built);
}

void ExpectRates(const Schedule& schedule, const std::vector<double>& expected) {
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(schedule.At(static_cast<int64_t>(i)).lr, expected[i],
                kRelative * std::abs(expected[i]))
        << "step " << i;
  }
}

void ExpectMomenta(const Schedule& schedule, const std::vector<double>& expected) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const ScheduleValue value = schedule.At(static_cast<int64_t>(i));
    ASSERT_TRUE(value.momentum.has_value());
    EXPECT_NEAR(*value.momentum, expected[i], kRelative * expected[i]) << "step " << i;
  }
}

TEST(ConstantSchedule, GivesTheSameRateForEverAndNoMomentum) {
  const auto schedule = Built(ConstantSchedule{.lr = 0.25}, 10);
  ExpectRates(*schedule, {0.25, 0.25, 0.25});
  EXPECT_EQ(schedule->At(1'000'000).lr, 0.25);
  EXPECT_FALSE(schedule->At(0).momentum.has_value());
}

TEST(StepSchedule, DropsAtWholeEpochs) {
  const auto schedule = Built(StepSchedule{.lr = 1, .every = 2, .gamma = 0.1}, 12, 2);
  ExpectRates(*schedule, {1, 1, 1, 1, 0.1, 0.1, 0.1, 0.1, 0.01, 0.01, 0.01, 0.01});
}

TEST(StepSchedule, DropsWithinAnEpochWhereAskedTo) {
  ExpectRates(*Built(StepSchedule{.lr = 1, .every = 0.5, .gamma = 0.5}, 4, 4), {1, 1, 0.5, 0.5});
}

// The formula of the header, evaluated in Python's float64.
TEST(CosineSchedule, WarmsUpInALineAndSinksAlongHalfACosine) {
  const auto schedule = Built(CosineSchedule{.lr = 1, .warmup = 0.2, .final_fraction = 0.1}, 10);
  ExpectRates(*schedule, {0, 0.5, 1, 0.96574578963, 0.868198051534, 0.722207544564, 0.55,
                          0.377792455436, 0.231801948466, 0.13425421037});
}

TEST(CosineSchedule, EndsAtTheFinalFractionAndStaysThere) {
  const auto schedule = Built(CosineSchedule{.lr = 2, .warmup = 0, .final_fraction = 0.1}, 10);
  EXPECT_EQ(schedule->At(0).lr, 2);
  EXPECT_NEAR(schedule->At(10).lr, 0.2, 1e-12);
  EXPECT_NEAR(schedule->At(99).lr, 0.2, 1e-12);
}

TEST(CosineSchedule, MayWarmUpToTheVeryEnd) {
  ExpectRates(*Built(CosineSchedule{.lr = 1, .warmup = 1}, 4), {0, 0.25, 0.5, 0.75});
}

TEST(OneCycleSchedule, GivesTheRatesOfPyTorch) {
  ExpectRates(*Built(OneCycleSchedule{.max_lr = 1}, 10),
              {.04, .52, 1, .950484632, .8117456539, .6112620219, .3887419781, .1882583461,
               .04951936799, 4e-6});
}

TEST(OneCycleSchedule, GivesTheMomentaOfPyTorch) {
  ExpectMomenta(*Built(OneCycleSchedule{.max_lr = 1}, 10), {.95, .9, .85, .8549515566});
  EXPECT_FALSE(Built(OneCycleSchedule{.cycle_momentum = false}, 10)->At(0).momentum.has_value());
}

TEST(OneCycleSchedule, CanMoveInStraightLines) {
  const auto schedule = Built(OneCycleSchedule{.max_lr = 1, .anneal = "linear"}, 10);
  EXPECT_NEAR(schedule->At(3).lr, .8571434286, kRelative);
}

TEST(OneCycleSchedule, GivesTheThreePhasesOfPyTorch) {
  const auto schedule = Built(OneCycleSchedule{.max_lr = 1, .three_phase = true}, 10);
  ExpectRates(*schedule, {.04, .52, 1, .52, .04, .03618072185, .02618172185, .01382227815,
                          .003823278146, 4e-6});
  EXPECT_NEAR(*schedule->At(4).momentum, .95, kRelative);
  EXPECT_NEAR(*schedule->At(7).momentum, .95, kRelative);
}

TEST(OneCycleSchedule, IsFiniteHoweverShortTheRun) {
  for (const bool three_phase : {false, true}) {
    for (int64_t total = 1; total < 30; ++total) {
      const auto schedule = Built(OneCycleSchedule{.max_lr = 1, .three_phase = three_phase}, total);
      for (int64_t step = 0; step <= total; ++step) {
        const ScheduleValue value = schedule->At(step);
        ASSERT_TRUE(value.lr > 0 && value.lr <= 1) << value.lr << " at " << step << " of " << total;
        ASSERT_TRUE(*value.momentum >= 0.85 && *value.momentum <= 0.95);
      }
    }
  }
}

TEST(OneCycleSchedule, RefusesTwoRisesLongerThanTheRun) {
  EXPECT_THAT((OneCycleSchedule{.pct_start = 0.6, .three_phase = true}.Build({10, 1})),
              FailsWith(StatusCode::kInvalidArgument, "at most 0.5"));
}

TEST(MultiStepSchedule, DropsAtEachMilestoneAsPyTorchDoes) {
  ExpectRates(*Built(MultiStepSchedule{.lr = 1, .milestones = {2, 5, 6}}, 8),
              {1, 1, .1, .1, .1, .01, .001, .001});
  ExpectRates(*Built(MultiStepSchedule{.lr = 1, .milestones = {.5, 1}, .gamma = .5}, 6, 4),
              {1, 1, .5, .5, .25, .25});
}

TEST(MultiStepSchedule, RefusesMilestonesThatDoNotRise) {
  EXPECT_THAT((MultiStepSchedule{.milestones = {3, 3}}.Build({10, 1})),
              FailsWith(StatusCode::kInvalidArgument, "milestone 3 stands after 3"));
}

TEST(ExponentialSchedule, LosesTheSameShareInEveryEpoch) {
  ExpectRates(*Built(ExponentialSchedule{.lr = 1, .gamma = .9}, 5), {1, .9, .81, .729, .6561});
  const auto by_step = Built(ExponentialSchedule{.lr = 1, .gamma = .81}, 4, 2);
  ExpectRates(*by_step, {1, .9, .81, .729});
}

TEST(LinearSchedule, GivesTheRatesOfPyTorch) {
  ExpectRates(
      *Built(LinearSchedule{.lr = 1, .start_fraction = 1.0 / 3, .end_fraction = 1, .epochs = 5}, 9),
      {.333333333333, .466666666667, .6, .733333333333, .866666666667, 1, 1});
}

TEST(LinearSchedule, StretchesOverTheRunWhereNoLengthIsGiven) {
  ExpectRates(*Built(LinearSchedule{.lr = 2}, 4, 2), {2, 1.5, 1, .5, 0, 0});
}

TEST(PolynomialSchedule, GivesTheRatesOfPyTorch) {
  ExpectRates(*Built(PolynomialSchedule{.lr = 1, .power = 2}, 8),
              {1, .765625, .5625, .390625, .25, .140625, .0625, .015625, 0, 0});
}

TEST(PolynomialSchedule, SinksToItsFinalFraction) {
  ExpectRates(*Built(PolynomialSchedule{.lr = 1, .power = 1, .final_fraction = .5, .epochs = 2}, 8),
              {1, .75, .5, .5});
}

TEST(CosineSchedule, RestartsInCyclesOfOneLengthAsPyTorchDoes) {
  const CosineSchedule options{.lr = 1, .warmup = 0, .final_fraction = .1, .first_cycle = 3};
  ExpectRates(*Built(options, 8), {1, .775, .325, 1, .775, .325, 1, .775});
}

TEST(CosineSchedule, RestartsInLongerAndLongerCyclesAsPyTorchDoes) {
  const CosineSchedule options{.lr = 1, .warmup = 0, .first_cycle = 2, .cycle_factor = 2};
  ExpectRates(*Built(options, 15),
              {1, .5, 1, .853553390593, .5, .146446609407, 1, .961939766256, .853553390593,
               .691341716183, .5, .308658283817, .146446609407, .0380602337444, 1});
}

TEST(CosineSchedule, RestartsLowerWhereItsPeaksDecayAndBehindTheWarmUp) {
  const CosineSchedule options{.lr = 1, .warmup = .25, .first_cycle = 1, .cycle_decay = .5};
  ExpectRates(*Built(options, 8, 2), {0, .5, 1, .5, .5, .25, .25, .125});
}

CyclicSchedule SmallCycles(std::string mode) {
  return {.base_lr = .1, .max_lr = .5, .up = 4, .mode = std::move(mode), .gamma = .9};
}

TEST(CyclicSchedule, TriangularGivesTheValuesOfPyTorch) {
  const auto schedule = Built(SmallCycles("triangular"), 17);
  ExpectRates(*schedule, {.1, .2, .3, .4, .5, .4, .3, .2, .1, .2, .3, .4, .5, .4, .3, .2, .1});
  ExpectMomenta(*schedule, {.9, .875, .85, .825, .8, .825, .85, .875, .9, .875});
}

TEST(CyclicSchedule, Triangular2HalvesEachCycleAsPyTorchDoes) {
  const auto schedule = Built(SmallCycles("triangular2"), 17);
  ExpectRates(*schedule, {.1, .2, .3, .4, .5, .4, .3, .2, .1, .15, .2, .25, .3, .25, .2, .15, .1});
  ExpectMomenta(*schedule, {.9, .875, .85, .825, .8, .825, .85, .875, .9, .8875, .875, .8625, .85});
}

TEST(CyclicSchedule, ExpRangeSinksWithEachStepAsPyTorchDoes) {
  const auto schedule = Built(SmallCycles("exp_range"), 17);
  ExpectRates(*schedule, {.1, .19, .262, .3187, .36244, .277147, .2062882, .14782969, .1,
                          .1387420489, .16973568802, .194143178827, .212971814592});
  ExpectMomenta(*schedule, {.9, .8775, .8595, .845325, .83439, .85571325, .87342795});
}

TEST(CyclicSchedule, MayFallAtAnotherPaceThanItRises) {
  CyclicSchedule options = SmallCycles("triangular");
  options.up = 2;
  options.down = 6;
  ExpectRates(*Built(options, 10),
              {.1, .3, .5, .433333333333, .366666666667, .3, .233333333333, .166666666667, .1, .3});
}

TEST(CyclicSchedule, RefusesABaseAboveItsTop) {
  EXPECT_THAT((CyclicSchedule{.base_lr = 1, .max_lr = .5}.Build({10, 1})),
              FailsWith(StatusCode::kInvalidArgument, "must not be above max_lr"));
}

TEST(CyclicSchedule, RefusesACycleOfLessThanTwoSteps) {
  CyclicSchedule options = SmallCycles("triangular");
  options.up = 1e-17;
  EXPECT_THAT(options.Build({10, 4}),
              FailsWith(StatusCode::kInvalidArgument, "a cycle needs 2 at least"));
  options.up = 0.25;
  STOKER_EXPECT_OK(options.Build({10, 4}));
}

TEST(CosineSchedule, RefusesACycleOfLessThanAStep) {
  CosineSchedule options;
  options.first_cycle = 1e-9;
  EXPECT_THAT(options.Build({10, 4}),
              FailsWith(StatusCode::kInvalidArgument, "first_cycle (1e-09 epochs) is"));
  options.first_cycle = 0.25;
  STOKER_EXPECT_OK(options.Build({10, 4}));
}

// The rate after each evaluation.
std::vector<double> RatesAfter(Schedule& schedule, const std::vector<double>& values) {
  std::vector<double> rates;
  for (const double value : values) {
    schedule.Observe(Evaluation{.samples = 1, .loss = value, .accuracy = value, .seconds = 0});
    rates.push_back(schedule.At(0).lr);
  }
  return rates;
}

void ExpectNear(const std::vector<double>& got, const std::vector<double>& expected) {
  EXPECT_THAT(got, testing::Pointwise(testing::DoubleNear(1e-9), expected));
}

TEST(PlateauSchedule, SinksWhenTheLossStopsFallingAsPyTorchDoes) {
  const auto schedule = Built(PlateauSchedule{.lr = 1, .factor = .5, .patience = 1}, 10);
  EXPECT_TRUE(schedule->follows_evaluations());
  ExpectNear(RatesAfter(*schedule, {1, .9, .9, .9, .9, .9, .9, .9, .9, .9}),
             {1, 1, 1, .5, .5, .25, .25, .125, .125, .0625});
}

TEST(PlateauSchedule, CoolsDownAndStopsAtItsLowestRateAsPyTorchDoes) {
  const PlateauSchedule options{.lr = 1, .factor = .5, .patience = 1, .cooldown = 2, .min_lr = .2};
  ExpectNear(RatesAfter(*Built(options, 10), {1, .9, .9, .9, .9, .9, .9, .9, .9, .9, .9}),
             {1, 1, 1, .5, .5, .5, .5, .25, .25, .25, .25});
}

TEST(PlateauSchedule, WatchesTheAccuracyBySharesOrByDifferences) {
  PlateauSchedule options{.lr = 1, .monitor = "accuracy", .patience = 1, .threshold = .1};
  ExpectNear(RatesAfter(*Built(options, 10), {.1, .2, .21, .23, .2, .25, .25, .25}),
             {1, 1, 1, 1, 1, .1, .1, .01});
  options.absolute = true;
  ExpectNear(RatesAfter(*Built(options, 10), {.1, .2, .21, .33, .2, .25, .45, .25}),
             {1, 1, 1, 1, 1, .1, .1, .1});
}

TEST(PlateauSchedule, SavedAfterAnyEvaluationAndRestoredItGoesOnTheSame) {
  const PlateauSchedule options{.lr = 1, .factor = .3, .patience = 1, .cooldown = 1};
  const std::vector<double> losses = {1, .9, .9, .9, .95, .7, .7, .7, .7, .7};
  const std::vector<double> whole = RatesAfter(*Built(options, 10), losses);
  for (size_t cut = 0; cut <= losses.size(); ++cut) {
    const auto middle = losses.begin() + static_cast<ptrdiff_t>(cut);
    const auto first = Built(options, 10), second = Built(options, 10);
    std::vector<double> rates = RatesAfter(*first, {losses.begin(), middle});
    // Through text, as a checkpoint stores it.
    STOKER_ASSERT_OK(second->Restore(Json::parse(first->Save().dump())));
    for (const double rate : RatesAfter(*second, {middle, losses.end()})) rates.push_back(rate);
    EXPECT_EQ(rates, whole) << "cut at " << cut;
  }
}

TEST(PlateauSchedule, WhatIsNoStateIsRefused) {
  const auto schedule = Built(PlateauSchedule{}, 10);
  for (const char* text : {"{}", "3", R"({"lr": 1, "bad": 0, "cooling": 0})",
                           R"({"lr": "x", "best": 1, "bad": 0, "cooling": 0})"}) {
    EXPECT_THAT(schedule->Restore(Json::parse(text)),
                FailsWith(StatusCode::kDataLoss, "not as plateau writes it"))
        << text;
  }
  EXPECT_EQ(schedule->At(0).lr, PlateauSchedule{}.lr);
}

}  // namespace stoker::schedules_test
