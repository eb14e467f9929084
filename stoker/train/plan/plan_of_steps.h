// The plan of those who only look at the first steps of a run.
#pragma once

#include <cstdint>

#include "stoker/base/status.h"
#include "stoker/run/recipe.h"
#include "stoker/train/plan/training_plan.h"

namespace stoker {

// MakePlan; but where neither the data nor train.max_steps says how long a run is, it is planned as
// one of `steps` steps instead of refused.
Result<TrainingPlan> MakePlanOfSteps(const Recipe& recipe, int64_t steps);

}  // namespace stoker
