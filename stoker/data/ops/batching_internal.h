// What the operators that make batches of consecutive elements have in common.
#pragma once

#include <cstdint>

#include "stoker/data/dataset.h"

namespace stoker {

// How many batches of `size` an epoch of `input` makes.
Cardinality BatchedCardinality(const Cardinality& input, int64_t size, bool drop_remainder);

// The first extent of every batch: `size`, or -1 where the last one may be smaller.
int64_t BatchExtent(const Cardinality& input, int64_t size, bool drop_remainder);

}  // namespace stoker
