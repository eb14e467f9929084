#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace stoker {

// The numbers that a model of sequences takes: tokens from 0 to below `count`, and what fills
// shorter sequences up.
struct KnownTokens {
  int64_t count = 0;
  int64_t padding = 0;
};

// Of each input of a model, in their order; nothing where it takes numbers. Inputs that are left
// out at the end take numbers too.
using TokensByInput = std::vector<std::optional<KnownTokens>>;

}  // namespace stoker
