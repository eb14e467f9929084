// Trial of a recipe: what a training finds out before its first step, without a run.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/run/recipe.h"
#include "stoker/run/train_check.h"

namespace stoker {

// What a trial has found.
struct RecipeTrial {
  Status status;        // all that do not follow from each other (base/problems.h)
  std::string untried;  // what was not looked at, and why; empty: nothing
  std::vector<std::string> warnings = {};  // of settings without an effect (no_effect.h)
};

// Looks whether the recipe's device is there, plans the steps (MakePlan), makes the model with its
// initial weights, the optimizer and the schedule, and puts the first batch of data.train through
// model and loss, that of data.eval through the evaluation with its metrics. Every target of both
// batches is looked at. Writes nothing; costs what the first seconds of a training cost, on the
// CPU.
RecipeTrial TryTraining(const Recipe& recipe);

// The parts of it that can be tried where mistakes stand in the way of the rest: the device; the
// fields of `data` that are input and target; with a model for such samples the parameters that
// groups name, the layers of activation_checkpointing and the weights of init_from. Errors: as
// above.
//   model, data  null where they cannot be made
Status TryParts(const CheckedTrain& train, const ModelRegistry::Configured* model,
                const Dataset* data);

}  // namespace stoker
