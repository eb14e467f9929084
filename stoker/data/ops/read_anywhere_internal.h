// For stages that read elements of their input by position, from anywhere.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "stoker/data/core/dataset.h"

namespace stoker {

// At most so many bytes of buffers are asked for to read `count` elements of `input`, wherever they
// stand. MemoryToRead is about consecutive ones, of which several may be made of one (unbatch).
inline std::optional<int64_t> MemoryToReadAnywhere(const DatasetNode& input, int64_t count) {
  const std::optional<int64_t> apart = MultiplySizes(count, input.MemoryToRead(1));
  const std::optional<int64_t> together = input.MemoryToRead(count);
  if (!apart || !together) return std::nullopt;
  return std::max(*apart, *together);
}

}  // namespace stoker
