// The stage that makes the batches of a pipeline.
#pragma once

#include <cstdint>
#include <optional>

#include "stoker/data/core/dataset.h"

namespace stoker {

// Returns it, such as `batch` or `padded_batch`; null if the batches are not made of samples one by
// one. Belongs to `batches`.
const DatasetNode* BatchingStage(const Dataset& batches);

// Returns how many samples its batches are made of in a pass, where that is known.
std::optional<int64_t> SamplesOf(const Dataset& batches);

// Returns how many samples the last batch of a pass has, where all others are of one size and that
// is known.
std::optional<int64_t> SamplesOfLastBatch(const Dataset& batches);

}  // namespace stoker
