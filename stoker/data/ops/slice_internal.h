// Shared by take and skip: a run of consecutive elements of the input.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/data/core/dataset.h"

namespace stoker {

// Returns elements begin..begin+count-1 of each epoch of `input`, or as many of them as there are.
Dataset SliceDataset(Dataset input, std::string name, int64_t begin, int64_t count);

}  // namespace stoker
