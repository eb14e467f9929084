// Trials of the model before a run begins.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/data/core/spec.h"
#include "stoker/run/recipe.h"
#include "stoker/train/core/model.h"
#include "stoker/train/core/target.h"
#include "stoker/train/plan/first_batch.h"

namespace stoker {

// Runs two samples of zeros, of the shapes that `batches` give, through `model` (on the CPU) and
// the recipe's loss, forward and backward. Costs a step with two samples; draws from torch's
// generator. Returns how many outputs the model has. Errors: kInvalidArgument if the model does not
// accept such samples, or returns no row of scores for each, or the loss does not accept those or
// such targets: with the layer, the shapes, and the place of the model or the loss in the recipe.
Result<int64_t> TryModel(const Recipe& recipe, Model& model, const Dataset& batches);

// Runs one sample of zeros through `model` in training: kInvalidArgument if a batch norm has one
// value a channel then, as where the last batch of an epoch has one sample.
Status TryOneSample(Model& model, const ModelInput& input);

// Returns the number of outputs for TargetChecksOf: `known`, or, if unknown and batches are copied
// to an accelerator, the outputs of `model`, which is there, for a sample of zeros like `input`;
// nothing if it does not accept one.
std::optional<int64_t> OutputsToCheck(std::optional<int64_t> known, Model& model,
                                      const ModelInput& input, c10::Device device);

// Returns the fields of `batches` that hold the targets, in their order. Errors: kInvalidArgument
// for one that is missing.
Result<std::vector<Field>> TargetFields(const Recipe& recipe, const Dataset& batches);

// Returns the meaning of targets like those of `targets`, fields of `dataset` ("data.eval"), for
// the recipe's losses and `outputs` outputs of its model. Errors: kInvalidArgument if a loss does
// not accept them, with the field and the place of the loss in the recipe.
Result<std::vector<TargetKind>> KindsOfTargets(const Recipe& recipe,
                                               const std::vector<Field>& targets,
                                               std::string_view dataset, int64_t outputs);

// Does the same as TryModel with the first two samples of data.train and their targets, and a new
// model. Returns their batch (on the CPU). Costs ReadFirstBatch and that step. Errors: also those
// of the pipeline, and those of CheckTargets (which sample).
Result<FirstBatch> TryFirstSamples(const Recipe& recipe);

}  // namespace stoker
