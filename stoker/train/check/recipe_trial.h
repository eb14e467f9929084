// Trial of a recipe: the checks of a training before its first step, without a run.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/run/recipe.h"
#include "stoker/run/train_check.h"

namespace stoker {

// The result of a trial.
struct RecipeTrial {
  Status status;                           // all independent errors (base/problems.h)
  std::string untried;                     // what was not checked, and why; empty: nothing
  std::vector<std::string> warnings = {};  // of settings without an effect (no_effect.h)
};

// Checks the recipe's device, plans the steps (MakePlan), makes the model with its initial weights,
// the optimizer and the schedule, and runs the first batch of data.train through model and loss,
// and that of data.eval through the evaluation with its metrics. Checks every target of both
// batches. Writes nothing; costs as much as the first seconds of a training, on the CPU.
RecipeTrial TryTraining(const Recipe& recipe);

// Tries the parts that are possible although mistakes prevent the rest: the device; the fields of
// `data` that are input and target; with a model for such samples the parameters that groups name,
// the layers of activation_checkpointing and the weights of init_from. Errors: as above.
//   model, data  null if they cannot be made
Status TryParts(const CheckedTrain& train, const ModelRegistry::Configured* model,
                const Dataset* data);

}  // namespace stoker
