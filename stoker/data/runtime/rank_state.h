// Saved positions of a pass that is dealt out to ranks: that of the dealt stage, wrapped in the
// states of the chain that follows it.
#pragma once

#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/data/runtime/deal.h"

namespace stoker {

// `shape` is a position that the chain saves, with {"dealt": true} instead of the dealt stage's.
// `group_sizes`: Deal::group_sizes.

// Splits a position of the whole pass. Elements that the chain would read again become elements
// that the dealt stage skips.
Result<Deal::Start> TakeApart(const Json& state, const Json& shape,
                              const std::vector<int64_t>& group_sizes);
// Returns the error for a position that only a pass in any order without ranks can continue.
Status SavedInAnyOrder();
// Composes a position that a pass with any number of ranks can continue.
Json PutTogether(const Deal::Start& start, const Json& shape);

}  // namespace stoker
