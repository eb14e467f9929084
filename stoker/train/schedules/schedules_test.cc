// Golden values: computed in float64 with PyTorch 1.13, where it has the schedule, and by the
// formula in the header else.
#include <cmath>

#include "stoker/base/testing.h"
#include "stoker/train/schedules/constant_schedule.h"
#include "stoker/train/schedules/cosine_schedule.h"
#include "stoker/train/schedules/one_cycle_schedule.h"
#include "stoker/train/schedules/step_schedule.h"

namespace stoker {
namespace {

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
  const auto schedule = Built(OneCycleSchedule{.max_lr = 1}, 10);
  const std::vector<double> expected = {.95, .9, .85, .8549515566};
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(schedule->At(static_cast<int64_t>(i)).momentum.has_value());
    EXPECT_NEAR(*schedule->At(static_cast<int64_t>(i)).momentum, expected[i],
                kRelative * expected[i]);
  }
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

}  // namespace
}  // namespace stoker
