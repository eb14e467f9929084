// The samples of a file that is only looked at.
#pragma once

#include <cstdint>

#include "stoker/base/array.h"
#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// What looking at samples may hold, however many values a file of few bytes has, compressed.
inline constexpr int64_t kSampleBudget = 64 << 20;

// The rows of an array, as the field `value`. `rows` may be an error, which is passed on.
Result<Dataset> SamplesOf(Result<Array> rows);

}  // namespace stoker
