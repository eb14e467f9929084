// Reads the seed and the epoch of a saved position, the two numbers that use all 64 bits.
#pragma once

#include <cstdint>

#include "stoker/base/json.h"
#include "stoker/base/status.h"

namespace stoker {

// Returns a member of a saved state. For all other numbers use SavedInteger (iterator.h).
Result<uint64_t> SavedUnsigned(const Json& state, const char* key);

}  // namespace stoker
