// Trials that were slower than their neighbours can explain: something else had the machine.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stoker/train/tune/batch_search.h"

namespace stoker {

// The numbers in `trials` of those that fit, but had less than 3/4 of the throughput of each
// neighbour by size that fits too (there are one or two). Throughput grows with the batch, or
// levels out, and where it falls it falls for all larger ones.
std::vector<size_t> SlowOutliers(std::span<const BatchTrial> trials);

}  // namespace stoker
