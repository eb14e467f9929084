// The size of an array that a file announces.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "stoker/base/dtype.h"

namespace stoker {

// Returns bytes of an array of this type and shape (extents >= 0), or nothing if the extents that
// are not 0 multiply to more than any machine can address. Such a shape is refused even if another
// extent is 0, so that products of any extents are safe.
inline std::optional<uint64_t> ArrayBytes(DType dtype, std::span<const int64_t> shape) {
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  uint64_t bytes = DTypeSize(dtype);
  bool empty = false;
  for (const int64_t extent : shape) {
    empty = empty || extent == 0;
    const auto factor = static_cast<uint64_t>(std::max<int64_t>(extent, 1));
    if (bytes > kMax / factor) return std::nullopt;
    bytes *= factor;
  }
  return empty ? 0 : bytes;
}

}  // namespace stoker
