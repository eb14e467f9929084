// Trial of a recipe: what a training finds out before its first step, without a run.
#pragma once

#include "stoker/base/status.h"
#include "stoker/train/recipe.h"

namespace stoker {

// Looks whether the recipe's device is there, plans the steps (MakePlan), makes the model with its
// initial weights, the optimizer and the schedule, and puts the first batch of data.train through
// model and loss, that of data.eval through the evaluation with its metrics. Every target of both
// batches is looked at. Writes nothing; costs what the first seconds of a training cost, on the
// CPU. Errors: all that do not follow from each other (base/problems.h).
Status TryTraining(const Recipe& recipe);

}  // namespace stoker
