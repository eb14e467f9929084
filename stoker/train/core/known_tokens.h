#pragma once

#include <cstdint>

namespace stoker {

// The numbers that a model of sequences takes: tokens from 0 to below `count`, and what fills
// shorter sequences up.
struct KnownTokens {
  int64_t count = 0;
  int64_t padding = 0;
};

}  // namespace stoker
