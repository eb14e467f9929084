// The keys of many elements as a short text, for saved positions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/data/core/element.h"

namespace stoker {

// Returns Base64 of two lists of LEB128 numbers, with zigzag-encoded differences: the epochs as
// (difference to the previous one, number of consecutive keys), then the index of each key as its
// difference to the previous one. About 3 to 8 characters a key, depending on the differences.
std::string PackKeys(std::span<const SampleKey> keys);

// The inverse of PackKeys, for a text that should hold `count` keys. DataLoss if it does not, or is
// damaged.
Result<std::vector<SampleKey>> UnpackKeys(std::string_view text, int64_t count);

}  // namespace stoker
