#include "stoker/run/run_schedule.h"

#include "stoker/base/testing.h"
#include "stoker/run/evaluation.h"
#include "stoker/run/testing.h"

namespace stoker::run_schedule_test {

Result<TrainRecipe> Parsed(const std::string& train) {
  STOKER_ASSIGN_OR_RETURN(const ConfigNode root, ParseYaml("train: {" + train + "}", "r.yaml"));
  return ParseTrainSection(root);
}

std::vector<double> Rates(const std::string& train, const SchedulePlan& plan, int64_t steps,
                          std::optional<int64_t> batch = 512) {
  const auto recipe = Parsed(train);
  EXPECT_THAT(recipe, IsOk());
  const auto schedule = BuildRunSchedule(*recipe, plan, batch);
  EXPECT_THAT(schedule, IsOk());
  std::vector<double> rates;
  for (int64_t step = 0; step < steps; ++step) rates.push_back((*schedule)->At(step).lr);
  return rates;
}

void ExpectNear(const std::vector<double>& got, const std::vector<double>& expected) {
  EXPECT_THAT(got, testing::Pointwise(testing::DoubleNear(1e-9), expected));
}

TEST(RunSchedule, WarmsAnyScheduleUpWithoutDelayingIt) {
  ExpectNear(Rates("schedule: {multi_step: {lr: 1, milestones: [3]}}, warmup: {epochs: 2}",
                   {.total_steps = 16, .steps_per_epoch = 2}, 8),
             {0, .25, .5, .75, 1, 1, .1, .1});
  ExpectNear(Rates("schedule: {constant: {lr: 2}}, warmup: {epochs: 2, from: 0.5, shape: cosine}",
                   {.total_steps = 8, .steps_per_epoch = 1}, 4),
             {1, 1.5, 2, 2});
}

TEST(RunSchedule, ScalesTheRateWithTheBatch) {
  const SchedulePlan plan{.total_steps = 4, .steps_per_epoch = 2};
  ExpectNear(Rates("schedule: {constant: {lr: 1}}, lr_scaling: linear", plan, 1, 1024), {4});
  ExpectNear(Rates("schedule: {constant: {lr: 1}}, lr_scaling: sqrt", plan, 1, 1024), {2});
  ExpectNear(Rates("schedule: {constant: {lr: 1}}, lr_scaling: {rule: linear, base_batch: 512}",
                   plan, 1, 128),
             {.25});
}

TEST(RunSchedule, WarmsUpFromTheRateBeforeScaling) {
  ExpectNear(Rates("schedule: {constant: {lr: 1}}, lr_scaling: linear, warmup: {epochs: 2}",
                   {.total_steps = 4, .steps_per_epoch = 1}, 4, 1024),
             {1, 2.5, 4, 4});
}

TEST(RunSchedule, CannotScaleWithABatchThatIsNotKnown) {
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainRecipe recipe, Parsed("lr_scaling: linear"));
  EXPECT_THAT(BuildRunSchedule(recipe, {.total_steps = 4, .steps_per_epoch = 1}, std::nullopt),
              FailsWith(StatusCode::kInvalidArgument, "is not known; put a `batch`"));
}

// The values are those of a schedule whose steps are epochs: PyTorch's cosine of three.
TEST(RunSchedule, ChangesByTheEpochWhereAskedTo) {
  ExpectNear(Rates("schedule: {cosine: {lr: 1, warmup: 0}}, schedule_every: epoch",
                   {.total_steps = 6, .steps_per_epoch = 2}, 6),
             {1, 1, .75, .75, .25, .25});
  ExpectNear(Rates("schedule: {exponential: {lr: 1, gamma: 0.5}}, schedule_every: epoch",
                   {.total_steps = 5, .steps_per_epoch = 2}, 5),
             {1, 1, .5, .5, .25});
}

TEST(RunSchedule, PassesMomentaAndEvaluationsThrough) {
  const SchedulePlan plan{.total_steps = 10, .steps_per_epoch = 1};
  STOKER_ASSERT_OK_AND_ASSIGN(
      const TrainRecipe cycle,
      Parsed("schedule: {one_cycle: {max_lr: 1}}, lr_scaling: linear, warmup: {epochs: 3}"));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto moved, BuildRunSchedule(cycle, plan, 512));
  EXPECT_NEAR(*moved->At(2).momentum, .85, 1e-9);
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainRecipe plateau,
                              Parsed("schedule: {plateau: {lr: 1, patience: 0}}"));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto first, BuildRunSchedule(plateau, plan, {}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto second, BuildRunSchedule(plateau, plan, {}));
  EXPECT_TRUE(first->follows_evaluations());
  for (int i = 0; i < 2; ++i) first->Observe(Evaluation{.samples = 1, .loss = 1});
  EXPECT_NEAR(first->At(0).lr, .1, 1e-12);
  STOKER_ASSERT_OK(second->Restore(first->Save()));
  EXPECT_EQ(second->At(0).lr, first->At(0).lr);
}

TEST(RunSchedule, KnowsTheBatchByItsSpecOrByItsOperator) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(const Recipe full, problem.Load());
  EXPECT_EQ(BatchSizeOf(full.data, "image"), 16);
  STOKER_ASSERT_OK_AND_ASSIGN(const Recipe ragged,
                              problem.Load({"data.train.batch.drop_remainder=false"}));
  EXPECT_EQ(BatchSizeOf(ragged.data, "image"), 16);
}

}  // namespace stoker::run_schedule_test
