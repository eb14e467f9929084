// A loss of transformed targets, whose predictions are in the units of the target.
#pragma once

#include <memory>

#include "stoker/run/recipe.h"
#include "stoker/train/core/loss.h"

namespace stoker {

// Returns a loss around `inner`, for a target that is transformed:
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
// not take every number (poisson), and a target that has not as many numbers as there are means.
std::shared_ptr<const Loss> TransformTarget(std::shared_ptr<const Loss> inner,
                                            const TargetOptions& options);

}  // namespace stoker
