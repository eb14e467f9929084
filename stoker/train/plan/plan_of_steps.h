// A plan for commands that need only the first steps of a run.
#pragma once

#include <cstdint>

#include "stoker/base/status.h"
#include "stoker/run/recipe.h"
#include "stoker/train/plan/training_plan.h"

namespace stoker {

// As MakePlan, but if neither the data nor train.max_steps limits the run, plans `steps` steps
// instead of failing.
Result<TrainingPlan> MakePlanOfSteps(const Recipe& recipe, int64_t steps);

}  // namespace stoker
