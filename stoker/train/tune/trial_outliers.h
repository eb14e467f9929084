// Finds trials that are slower than their neighbours can explain, because the machine was busy.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stoker/train/tune/batch_search.h"

namespace stoker {

// Returns the indices in `trials` of those that fit, but had less than 3/4 of the throughput of
// each of their one or two neighbours by size that fit. Throughput grows with the batch or levels
// out, and once it falls it falls for all larger ones.
std::vector<size_t> SlowOutliers(std::span<const BatchTrial> trials);

}  // namespace stoker
