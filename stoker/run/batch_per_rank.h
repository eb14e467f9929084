// The size of a recipe's batches, and what `train.distributed.batch: per_rank` makes of it.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/base/config.h"
#include "stoker/base/status.h"

namespace stoker {

// Returns the key of the size of a recipe's batches: "data.train.padded_batch.size" or, also where
// it has none, "data.train.batch.size".
std::string BatchSizeKey(const ConfigNode& recipe);

// Where the recipe says that each of `ranks` processes reads the batch of data.train by itself,
// makes the batch that all of them read together, and the key global: what a run keeps, so that
// another number of processes continues it with the same batches. Other recipes stay as they are,
// also those in which something is wrong, which is said when they are parsed. Errors:
// kInvalidArgument, with the place: data.train has no stage `batch` or `padded_batch`, or two, or
// the product is too large.
Status TakeBatchPerRank(ConfigNode& recipe, int64_t ranks);

}  // namespace stoker
