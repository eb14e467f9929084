#include "stoker/train/plan/no_effect.h"

#include "stoker/run/testing.h"

namespace stoker::no_effect_test {

class NoEffectTest : public testing::Test {
 protected:
  std::vector<std::string> Of(const std::vector<std::string>& assignments) const {
    const Result<Recipe> recipe = problem_.Load(assignments);
    EXPECT_THAT(recipe, IsOk());
    const Result<TrainingPlan> plan = MakePlan(*recipe);
    EXPECT_THAT(plan, IsOk());
    return SettingsWithoutEffect(*recipe, *plan);
  }

  const SmallProblem problem_;  // 18 steps, 4 classes
};

TEST_F(NoEffectTest, ASettingThatDoesSomethingIsNotNamed) {
  EXPECT_THAT(Of({}), testing::IsEmpty());
  EXPECT_THAT(Of({"train.average={kind: swa, every: 18}"}), testing::IsEmpty());
  EXPECT_THAT(Of({"train.average=ema"}), testing::IsEmpty());
  EXPECT_THAT(Of({"train.metrics=[top3]"}), testing::IsEmpty());
}

TEST_F(NoEffectTest, AnAverageWithoutAnUpdateIsNamed) {
  EXPECT_THAT(Of({"train.average={kind: swa, every: 1000}"}),
              testing::ElementsAre(testing::HasSubstr(
                  "nothing is averaged, since it begins at step 14, takes a step of every 1000, "
                  "and the run ends after 18")));
}

TEST_F(NoEffectTest, AShareOfRightAnswersAmongAllClassesIsNamed) {
  EXPECT_THAT(Of({"train.metrics=[top2, top7]"}),
              testing::ElementsAre(testing::HasSubstr("top7 of 4 classes is always 1")));
}

TEST_F(NoEffectTest, AWarmUpThatNeverEndsIsNamed) {
  EXPECT_THAT(Of({"train.warmup.epochs=9"}),
              testing::ElementsAre(testing::HasSubstr("it takes 54 steps and the run ends after")));
}

TEST_F(NoEffectTest, AScheduleThatLeavesNoRateIsNamed) {
  for (const char* schedule :
       {"{step: {lr: 0.1, every: 1e-12}}", "{polynomial: {lr: 0.1, power: 1e9}}",
        "{exponential: {lr: 0.1, gamma: 1e-300}}"}) {
    EXPECT_THAT(Of({std::string("train.schedule=") + schedule}),
                testing::ElementsAre(testing::HasSubstr("so the weights stand still")))
        << schedule;
  }
  EXPECT_THAT(Of({"train.schedule={cosine: {lr: 0.1}}"}), testing::IsEmpty());
}

TEST_F(NoEffectTest, AScheduleThatChangesNothingBeforeTheEndIsNamed) {
  for (const char* schedule :
       {"{multi_step: {lr: 0.1, milestones: [100]}}", "{step: {lr: 0.1, every: 30}}",
        "{cyclic: {base_lr: 0.1, max_lr: 1, up: 1e17}}"}) {
    EXPECT_THAT(Of({std::string("train.schedule=") + schedule}),
                testing::ElementsAre(testing::HasSubstr("in all 18 steps")))
        << schedule;
  }
  EXPECT_THAT(Of({"train.schedule={constant: {lr: 0.1}}"}), testing::IsEmpty());
  EXPECT_THAT(Of({"train.schedule={step: {lr: 0.1, every: 2}}"}), testing::IsEmpty());
}

TEST_F(NoEffectTest, APatienceThatOutlastsTheRunIsNamed) {
  EXPECT_THAT(Of({"train.early_stopping={patience: 2}"}),
              testing::ElementsAre(testing::HasSubstr("and this run has 3 that")));
  EXPECT_THAT(Of({"train.early_stopping={patience: 1}"}), testing::IsEmpty());
  EXPECT_THAT(Of({"train.early_stopping={patience: 1, after_epochs: 1}"}),
              testing::ElementsAre(testing::HasSubstr("and this run has 2 that")));
  EXPECT_THAT(Of({"train.early_stopping={baseline: 1}"}),
              testing::ElementsAre(testing::HasSubstr("without `patience` or `goal`")));
  EXPECT_THAT(Of({"train.early_stopping={goal: 0.1, after_epochs: 1}"}), testing::IsEmpty());
  EXPECT_THAT(Of({"train.early_stopping={goal: 0.1, after_epochs: 3}"}),
              testing::ElementsAre(testing::HasSubstr("the first 3 epochs do not count")));
  EXPECT_THAT(Of({"train.early_stopping={patience: 2}", "train.eval_every_steps=2"}),
              testing::IsEmpty());
}

TEST_F(NoEffectTest, MoreBatchesToAStepThanAnEpochHasAreNamed) {
  EXPECT_THAT(Of({"train.accumulate=64"}),
              testing::ElementsAre(testing::HasSubstr("an epoch has 6")));
  EXPECT_THAT(Of({"train.accumulate=6"}), testing::IsEmpty());
  EXPECT_THAT(Of({"train.hogwild=64"}),
              testing::Contains(testing::HasSubstr("a step of 64 batches is not reached")));
}

TEST_F(NoEffectTest, AnOptionOfWhatIsSwitchedOffIsNamed) {
  for (const auto& [assignment, says] : std::vector<std::pair<std::string, std::string>>{
           {"average={decay: 0.99}", "nothing is averaged without a `kind`"},
           {"average={every: 10}", "nothing is averaged"},
           {"warmup={shape: cosine}", "no warm-up without `epochs`"},
           {"lr_scaling={base_batch: 32}", "not scaled without a `rule`"},
           {"tensorboard={histograms: 10}", "without `enabled: true`"},
           {"init_from={partial: true}", "without `weights`"},
           {"checkpoint={best_mode: max}", "without `best`"}}) {
    EXPECT_THAT(Of({"train." + assignment}), testing::ElementsAre(testing::HasSubstr(says)))
        << assignment;
  }
}

}  // namespace stoker::no_effect_test
