#include "stoker/train/plan/plan_of_steps.h"

namespace stoker {

Result<TrainingPlan> MakePlanOfSteps(const Recipe& recipe, int64_t steps) {
  if (recipe.data.train.cardinality().known() || recipe.train.options.max_steps) {
    return MakePlan(recipe);
  }
  Recipe of_steps = recipe;
  of_steps.train.options.max_steps = steps;
  return MakePlan(of_steps);
}

}  // namespace stoker
