// The first samples of a data file, for `stoker inspect`.
#pragma once

#include <cstdint>

#include "stoker/data/core/dataset.h"
#include "stoker/tools/formats/inspection.h"

namespace stoker {

// Reads up to `count` samples of `dataset` and adds them to `out`: as lines to its text, as
// "samples" to its JSON. Samples that cannot be read are left out, and `out` says how many and why
// the first was ("samples_left_out": {"count", "first"}); where none can be read, or no further
// ones, or the dataset is an error, why not ("samples_error").
void AddFirstSamples(const Result<Dataset>& dataset, int64_t count, Inspection& out);

}  // namespace stoker
