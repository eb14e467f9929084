// Reads the counts of a saved position that continue from there.
#pragma once

#include <cstdint>
#include <string_view>

#include "stoker/base/json.h"
#include "stoker/base/status.h"

namespace stoker {

// No pass reaches this number, and sums of a few such counts stay within 63 bits.
inline constexpr int64_t kMostCounted = int64_t{1} << 61;

// Returns a member of a saved state, 0..most. DataLoss if it is larger or missing: the state is
// damaged, or that of another pipeline; `who` is its stage.
Result<int64_t> SavedCount(std::string_view who, const Json& state, const char* key,
                           int64_t most = kMostCounted);

}  // namespace stoker
