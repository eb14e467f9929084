// Saved positions of a pass that is dealt out to ranks: those of the stage that is dealt out,
// wrapped in what the stages of the chain above it add.
#pragma once

#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/data/runtime/deal.h"

namespace stoker {

// `shape` is a position that the chain saves, with {"dealt": true} in the place of the dealt
// stage's. `group_sizes`: Deal::group_sizes.

// Takes a position of the whole pass apart. What the chain would read again is turned into elements
// that the dealt stage skips.
Result<Deal::Start> TakeApart(const Json& state, const Json& shape,
                              const std::vector<int64_t>& group_sizes);
// The error for a position that only a pass in any order continues, of one rank alone.
Status SavedInAnyOrder();
// Puts one together, which a pass of any number of ranks continues.
Json PutTogether(const Deal::Start& start, const Json& shape);

}  // namespace stoker
