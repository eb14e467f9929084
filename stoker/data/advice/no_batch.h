// The error of an empty pipeline.
#pragma once

#include <string_view>

#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Returns the error of a pipeline without any batch: its source has no samples, or fewer than one
// batch with drop_remainder, or a stage drops them all.
//   name  of the pipeline: "data.train"
Status NoBatch(const Dataset& batches, std::string_view name);
// The same, if nothing more is known of the pipeline.
Status NoBatch(std::string_view name);

}  // namespace stoker
