// A rank's share of a pass that is read by position (PassOptions::world).
#pragma once

#include "stoker/data/core/dataset.h"

namespace stoker {

// Returns the elements begin + rank, begin + rank + world, ... of `whole`, which is readable by
// position; with WhenDry::kStopAll, only as many as every rank has.
Dataset RankDataset(const Dataset& whole, const PassOptions& options, int64_t begin);

}  // namespace stoker
