// A loss of transformed targets, whose predictions are in the units of the target.
#pragma once

#include <memory>

#include "stoker/base/status.h"
#include "stoker/run/recipe.h"
#include "stoker/train/core/loss.h"

namespace stoker {

// Returns the loss that `train` names. Where train.target transforms the target, that is `inner` of
//
//   t' = (t - mean) / std,   t the target, or with `log` its natural logarithm,
//
// so the model learns numbers of about the size 1, and
//
//   Mean             compares scores with t'
//   InUnitsOfTarget  gives score * std + mean, and with `log` e to that, of what `inner` gives;
//   Estimates        likewise: predictions and metrics are in the units of the target
//   Objection        with `log` also names a target that is not above 0
//
// A target of several numbers has a mean and a std for each, or one for all. Quantiles stay
// quantiles, because the transform rises; the mean of logarithms becomes the geometric mean, which
// lies below the mean of the targets.
//
// KindOf refuses, with what to change, losses that take classes, shares or labels, losses that do
// not take every number (poisson), and a target of another number of numbers.
// Errors: those of the loss; kFailedPrecondition if something is to be learned and was not
// (run/learned_train.h).
Result<std::shared_ptr<const Loss>> BuildLoss(const TrainRecipe& train);

}  // namespace stoker
