// Reads the first batch of a recipe's training data before training begins.
#pragma once

#include <c10/core/Device.h>

#include "stoker/base/status.h"
#include "stoker/device/feeder.h"
#include "stoker/run/recipe.h"
#include "stoker/run/registry.h"

namespace stoker {

// Returns what one sample of these batches is. Errors: kInvalidArgument if the field of the input
// or of the target is missing, or the input suits no model.
Result<ModelInput> InputOf(const TrainOptions& options, const Dataset& batches);

struct FirstBatch {
  TensorBatch batch;  // on the device, contiguous
  ModelInput input;   // one sample of it
};

// Opens data.train, on as many threads as it needs, and closes it again. Errors: the pipeline's;
// kInvalidArgument if it has no batch, or a field is missing.
Result<FirstBatch> ReadFirstBatch(const Recipe& recipe, c10::Device device,
                                  BatchChecks checks = {});

}  // namespace stoker
