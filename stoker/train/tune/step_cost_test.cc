#include "stoker/train/tune/step_cost.h"

#include <gmock/gmock.h>

#include "stoker/base/testing.h"
#include "stoker/run/testing.h"

namespace stoker::step_cost_test {

TEST(StepCost, HasThePartsOfAStepOfTheFirstBatch) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(const Recipe recipe, problem.Load({"train.device=cpu"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const StepCost cost,
                              MeasureStep(recipe, {.threads = 1}, /*seconds=*/0, /*stop=*/nullptr));
  EXPECT_GT(cost.batch, 0);
  EXPECT_GT(cost.backward_s, 0);
  EXPECT_GT(cost.optimizer_s, 0);
  EXPECT_GE(cost.seconds, cost.optimizer_s);
  EXPECT_EQ(cost.copy_s, 0);
  EXPECT_EQ(cost.threads, 1);
  EXPECT_FALSE(cost.accelerator);
}

TEST(StepCost, StopsBeforeThereAreEnoughStepsWithCancelled) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(const Recipe recipe, problem.Load({"train.device=cpu"}));
  const std::atomic<bool> stop = true;
  EXPECT_EQ(MeasureStep(recipe, {}, 10, &stop).status().code(), StatusCode::kCancelled);
}

}  // namespace stoker::step_cost_test
