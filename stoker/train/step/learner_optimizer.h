// The optimizer of a Learner, and which gradients it takes.
#pragma once

#include <c10/core/Device.h>

#include <memory>

#include "stoker/base/status.h"
#include "stoker/cluster/group.h"
#include "stoker/run/optimizer.h"
#include "stoker/run/recipe.h"
#include "stoker/train/core/model.h"
#include "stoker/train/core/parameters.h"

namespace stoker {

// Returns the optimizer of the recipe; with distributed.shard_optimizer one whose state `group`
// shares out.
//   group  null: one process alone. Outlives the optimizer
// Errors: those of the optimizer; kInvalidArgument on every rank where it would update the rows of
// embeddings lazily, since ranks send each other whole gradients.
Result<std::unique_ptr<Optimizer>> BuildOptimizer(const TrainRecipe& recipe,
                                                  const TrainedParameters& parameters,
                                                  Group* group);

// Makes the embeddings of `model` have the gradients that `optimizer` takes (UseRowGradients).
// Returns whether some are of rows. Errors: kInvalidArgument: it is lazy, and the model has no
// embeddings.
//   group  null: one process alone
Result<bool> ChooseGradients(const TrainRecipe& recipe, const Optimizer& optimizer, Model& model,
                             c10::Device device, const Group* group);

}  // namespace stoker
