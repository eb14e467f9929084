// A trial of the model before a run begins.
#pragma once

#include "stoker/base/status.h"
#include "stoker/data/spec.h"
#include "stoker/train/model.h"
#include "stoker/train/recipe.h"

namespace stoker {

// Two samples of zeros, of the shape that `input` says, go through `model` (on the CPU, channels
// first) and the recipe's loss, forward and back. Costs a step with two samples; draws from torch's
// generator. Errors: kInvalidArgument where the model does not take such samples, or gives no row
// of scores for each, or the loss does not take those: with the layer, the shapes, and where in the
// recipe the model or the loss stands.
Status TryModel(const Recipe& recipe, Model& model, const Field& input, bool channels_last);

}  // namespace stoker
