// Where pixels are normalised: in the input pipeline, or on the device that trains
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

// A pipeline, and what the Feeder behind it does to its input (FeederOptions::normalize).
struct PlacedPipeline {
  Dataset dataset;
  std::vector<ShiftScale> normalize;  // empty: nothing
};

// data.train as the recipe wants it fed to `device`; where that is open, on the device if that is
// an accelerator and the pipeline allows it. Errors: kInvalidArgument where normalize_on says
// device and the pipeline does not allow it (why).
Result<PlacedPipeline> PlaceTrain(const Recipe& recipe, c10::Device device);

// data.eval likewise, which there must be, but on the host where that was chosen; one that does not
// allow it is normalised there too, whatever the recipe says.
PlacedPipeline PlaceEval(const Recipe& recipe, c10::Device device, const Choices& choices);

}  // namespace stoker
