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

}  // namespace stoker::no_effect_test
