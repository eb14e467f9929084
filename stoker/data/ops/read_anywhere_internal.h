// For stages that read elements of their input by position, from anywhere.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "stoker/data/core/dataset.h"

namespace stoker {

// Returns an upper bound of the bytes of buffers for reading any `count` elements of `input`.
// MemoryToRead assumes consecutive ones, several of which may come from one element (unbatch).
inline std::optional<int64_t> MemoryToReadAnywhere(const DatasetNode& input, int64_t count) {
  // Asked once: the input may ask its own input like this, and so on.
  if (count == 1) return input.MemoryToRead(1);
  const std::optional<int64_t> apart = MultiplySizes(count, input.MemoryToRead(1));
  const std::optional<int64_t> together = input.MemoryToRead(count);
  if (!apart || !together) return std::nullopt;
  return std::max(*apart, *together);
}

}  // namespace stoker
