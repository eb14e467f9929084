// BuildLoss: the loss of a training.
#pragma once

#include <memory>

#include "stoker/base/status.h"
#include "stoker/run/recipe.h"
#include "stoker/train/core/loss.h"

namespace stoker {

// Returns the loss that `train` names; where train.target transforms the target, one around it
// (transformed_target_internal.h). Errors: those of the loss; kFailedPrecondition if something is
// to be learned and was not (run/learned_train.h).
Result<std::shared_ptr<const Loss>> BuildLoss(const TrainRecipe& train);

}  // namespace stoker
