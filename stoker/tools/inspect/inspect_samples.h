// The first samples of a data file, for `stoker inspect`.
#pragma once

#include <cstdint>

#include "stoker/data/core/dataset.h"
#include "stoker/tools/formats/inspection.h"

namespace stoker {

// Reads up to `count` samples of `dataset` and adds them to `out`: as lines to its text, as
// "samples" to its JSON. Skips samples that cannot be read and adds their number and the first
// reason ("samples_left_out": {"count", "first"}); if none or no further ones can be read, or the
// dataset is an error, adds the reason ("samples_error").
//   budget  bytes that the pass may hold
void AddFirstSamples(const Result<Dataset>& dataset, int64_t budget, int64_t count,
                     Inspection& out);

}  // namespace stoker
