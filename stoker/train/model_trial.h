// Trials of the model before a run begins.
#pragma once

#include "stoker/base/status.h"
#include "stoker/data/spec.h"
#include "stoker/train/first_batch.h"
#include "stoker/train/model.h"
#include "stoker/train/recipe.h"

namespace stoker {

// Two samples of zeros, of the shape that `input` says, go through `model` (on the CPU, channels
// first) and the recipe's loss, forward and back. Costs a step with two samples; draws from torch's
// generator. Errors: kInvalidArgument where the model does not take such samples, or gives no row
// of scores for each, or the loss does not take those: with the layer, the shapes, and where in the
// recipe the model or the loss stands.
Status TryModel(const Recipe& recipe, Model& model, const Field& input, bool channels_last);

// The same with the first two samples of data.train and their targets, and a model of its own.
// Returns the batch that they are of (on the CPU), for who wants to look at it too. Costs what
// ReadFirstBatch does, and that step. Errors: also those of the pipeline, and a class number that
// the model has no score for (kDataLoss, which sample).
Result<FirstBatch> TryFirstSamples(const Recipe& recipe);

}  // namespace stoker
