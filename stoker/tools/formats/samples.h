// Samples of a file for inspection.
#pragma once

#include <cstdint>

#include "stoker/base/array.h"
#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// The memory limit of inspecting samples, because a small compressed file may have very many
// values.
inline constexpr int64_t kSampleBudget = 64 << 20;

// Returns the rows of an array, as the field `value`. `rows` may be an error, which is returned.
Result<Dataset> SamplesOf(Result<Array> rows);

}  // namespace stoker
