// Reading back what a saved position counts, where the count goes on from there.
#pragma once

#include <cstdint>
#include <string_view>

#include "stoker/base/json.h"
#include "stoker/base/status.h"

namespace stoker {

// No pass comes to as many of anything: adding some such counts stays within 63 bits.
inline constexpr int64_t kMostCounted = int64_t{1} << 61;

// A member of a saved state, 0..most. DataLoss beyond that, or where it is missing: the state is
// damaged, or that of another pipeline; `who` is the stage whose it is.
Result<int64_t> SavedCount(std::string_view who, const Json& state, const char* key,
                           int64_t most = kMostCounted);

}  // namespace stoker
