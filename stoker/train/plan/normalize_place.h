// Decides whether pixels are normalised in the input pipeline or on the training device
// (train.normalize_on).
#pragma once

#include <c10/core/Device.h>

#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"
#include "stoker/image/normalize.h"
#include "stoker/run/choices.h"
#include "stoker/run/recipe.h"

namespace stoker {

// A pipeline, and the normalisation by its Feeder (FeederOptions::normalize).
struct PlacedPipeline {
  Dataset dataset;
  std::vector<ShiftScale> normalize;  // empty: nothing
};

// Returns data.train for `device` by the recipe's setting; if that is open, normalised on the
// device if it is an accelerator and the pipeline allows it. Errors: kInvalidArgument if
// normalize_on is device and the pipeline does not allow it (why).
Result<PlacedPipeline> PlaceTrain(const Recipe& recipe, c10::Device device);

// Returns data.eval, which must exist, likewise, but normalised on the host if `choices` say so, or
// if the pipeline does not allow the device, independent of the recipe.
PlacedPipeline PlaceEval(const Recipe& recipe, c10::Device device, const Choices& choices);

}  // namespace stoker
