// Trials of the model before a run begins.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/data/core/spec.h"
#include "stoker/run/recipe.h"
#include "stoker/train/core/model.h"
#include "stoker/train/core/target.h"
#include "stoker/train/plan/first_batch.h"

namespace stoker {

// Two samples of zeros, of the shapes that `input` and `target` say, go through `model` (on the
// CPU, channels first) and the recipe's loss, forward and back. Costs a step with two samples;
// draws from torch's generator. Returns how many outputs the model has. Errors: kInvalidArgument
// where the model does not take such samples, or gives no row of scores for each, or the loss does
// not take those or such targets: with the layer, the shapes, and where in the recipe the model or
// the loss stands.
Result<int64_t> TryModel(const Recipe& recipe, Model& model, const Field& input,
                         const Field& target, bool channels_last);

// The outputs of the model by which TargetCheckOf is to look at class numbers: those that are
// known, or where they are not and batches travel to an accelerator, as many as `model`, which is
// there, gives a sample of zeros like `input`; nothing where it does not take one.
std::optional<int64_t> OutputsToCheck(std::optional<int64_t> known, Model& model,
                                      const ModelInput& input, c10::Device device);

// What targets like those of `target`, a field of `dataset` ("data.eval"), mean to the recipe's
// loss beside so many outputs of its model. Errors: kInvalidArgument where it does not take them,
// with the field and where in the recipe the loss stands.
Result<TargetKind> KindOfTarget(const Recipe& recipe, const Field& target, std::string_view dataset,
                                int64_t outputs);

// The same with the first two samples of data.train and their targets, and a model of its own.
// Returns the batch that they are of (on the CPU), for who wants to look at it too. Costs what
// ReadFirstBatch does, and that step. Errors: also those of the pipeline, and those of CheckTarget
// (which sample).
Result<FirstBatch> TryFirstSamples(const Recipe& recipe);

}  // namespace stoker
