// What a run in float16 does about gradients and losses that are not finite: the scaler of
// gradients leaves steps out as well.
#include "stoker/train/loop/nonfinite_testing.h"

namespace stoker::nonfinite_float16_test {

// Steps that the loss scaler skips are normal; values that no scale makes finite are not.
class NonfiniteInFloat16 : public NonfiniteTest {
 protected:
  static std::set<int64_t> All() {
    std::set<int64_t> steps;
    for (int64_t step = 1; step <= 60; ++step) steps.insert(step);
    return steps;
  }
  static constexpr const char* kFloat16 = "train.precision=fp16";
  // From 2^16 down to 2^-20, and one more at the lowest scale.
  static constexpr int kHopelessStep = 37;
};

TEST_F(NonfiniteInFloat16, StepsThatTheScalerLeavesOutAreCountedApart) {
  for (const char* const action : {"stop", "skip", "rollback"}) {
    SCOPED_TRACE(action);
    STOKER_ASSERT_OK_AND_ASSIGN(
        const TrainSummary summary,
        TrainPoisoned<PoisonGradient>(
            action, {2, 3, 4, 9},
            {kFloat16, std::string("train.on_nonfinite=") + action, "train.nonfinite_limit=1"}));
    EXPECT_EQ(summary.skipped, 0);
    EXPECT_EQ(summary.rollbacks, 0);
    const std::vector<std::string> lines = MetricsOf(action);
    EXPECT_THAT(lines[lines.size() - 2], testing::HasSubstr("\"skipped_steps\":4"));
  }
  EXPECT_EQ(WeightsOf("skip"), WeightsOf("stop"));
  EXPECT_EQ(WeightsOf("rollback"), WeightsOf("stop"));
}

TEST_F(NonfiniteInFloat16, GradientsThatOverflowAtEveryScaleStopTheRun) {
  EXPECT_THAT(TrainPoisoned<PoisonGradient>("run", All(), {kFloat16, "train.epochs=10"}),
              FailsWith(StatusCode::kFailedPrecondition,
                        "step " + std::to_string(kHopelessStep) +
                            ": the gradient of '1.weight' is not finite, in float16, although the "
                            "loss was scaled by as little as 9.54e-07"));
}

TEST_F(NonfiniteInFloat16, GradientsThatOverflowAtEveryScaleAreSkippedUpToTheLimit) {
  EXPECT_THAT(TrainPoisoned<PoisonGradient>("run", All(),
                                            {kFloat16, "train.epochs=10", "train.on_nonfinite=skip",
                                             "train.nonfinite_limit=3"}),
              FailsWith(StatusCode::kFailedPrecondition,
                        "step " + std::to_string(kHopelessStep + 3) + ": the gradient of"));
}

TEST_F(NonfiniteInFloat16, GradientsThatOverflowAtEveryScaleRollBackAndStayCounted) {
  std::set<int64_t> until;
  for (int64_t step = 1; step <= kHopelessStep; ++step) until.insert(step);
  STOKER_ASSERT_OK_AND_ASSIGN(
      const TrainSummary summary,
      TrainPoisoned<PoisonGradient>("run", until,
                                    {kFloat16, "train.epochs=10", "train.on_nonfinite=rollback",
                                     "train.checkpoint={every_steps: 5, keep: 1}"}));
  EXPECT_EQ(summary.rollbacks, 1);
  const std::vector<std::string> lines = MetricsOf("run");
  EXPECT_THAT(lines[lines.size() - 2], testing::HasSubstr("\"skipped_steps\":36"));
}

// An infinite loss is no matter of scaling.
TEST_F(NonfiniteInFloat16, ALossThatIsNotFiniteIsNotTheScalers) {
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainSummary summary,
                              TrainPoisoned("run", {3, 8}, {kFloat16, "train.on_nonfinite=skip"}));
  EXPECT_EQ(summary.skipped, 2);
  const std::vector<std::string> lines = MetricsOf("run");
  EXPECT_THAT(lines[lines.size() - 2], testing::HasSubstr("\"skipped_steps\":0"));
}

TEST_F(NonfiniteInFloat16, SkippedForEitherReasonItResumesToTheSameBytes) {
  const std::vector<std::string> set = {kFloat16, "train.on_nonfinite=skip", "train.average=ema"};
  const std::set<int64_t> broken = {2, 5, 6};
  STOKER_ASSERT_OK(TrainPoisoned<PoisonGradient>("whole", broken, set));
  for (const int64_t step : {1, 2, 5, 6}) {
    SCOPED_TRACE(step);
    const std::string run = "stopped" + std::to_string(step);
    Watcher watcher;
    watcher.stop_after = step;
    STOKER_ASSERT_OK(TrainPoisoned<PoisonGradient>(run, broken, set, false, &watcher));
    STOKER_ASSERT_OK(TrainPoisoned<PoisonGradient>(run, broken, set, true));
    EXPECT_EQ(WeightsOf(run), WeightsOf("whole"));
    EXPECT_EQ(MetricsOf(run), MetricsOf("whole"));
  }
}

}  // namespace stoker::nonfinite_float16_test
