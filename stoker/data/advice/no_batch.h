// Why a pipeline gives nothing.
#pragma once

#include <string_view>

#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// The error of a pipeline that gave no batch, or will give none: its source holds no samples, fewer
// than one batch with drop_remainder, or a stage leaves out all.
//   name  of the pipeline: "data.train"
Status NoBatch(const Dataset& batches, std::string_view name);

}  // namespace stoker
