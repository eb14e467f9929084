// The keys of many elements as a short text, for saved positions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/data/core/element.h"

namespace stoker {

// Base64 of two lists of LEB128 numbers, differences zigzagged: the epochs as (difference to the
// one before, how many keys in a row), then the index of each key as its difference to the one
// before. About 3 to 8 characters a key, by how far neighbours lie apart.
std::string PackKeys(std::span<const SampleKey> keys);

// The inverse, for a text that should hold `count` keys. DataLoss where it does not, or is damaged.
Result<std::vector<SampleKey>> UnpackKeys(std::string_view text, int64_t count);

}  // namespace stoker
