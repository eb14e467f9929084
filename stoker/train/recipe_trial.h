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

// The part of it that a model for the samples of `data` is enough for, where mistakes elsewhere
// stand in the way of the rest: the parameters that groups name, the layers of
// activation_checkpointing, the weights of init_from. Errors: as above.
Status TryModelAlone(const ModelRegistry::Configured& model, const TrainRecipe& train,
                     const Dataset& data);

// Whether the file of init_from can be read, for where no model can be made.
Status TryWeightsFile(const InitFromOptions& options);

}  // namespace stoker
