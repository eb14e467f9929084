// For tests and fuzzers of formats that are parsed in place.
#pragma once

#include <cstring>
#include <span>

#include "stoker/base/buffer.h"

namespace stoker {

// Returns a copy in memory of exactly the same size, so that a sanitizer detects reads beyond it.
inline Buffer CopyOf(std::span<const std::byte> bytes) {
  Buffer copy = Buffer::Allocate(bytes.size());
  if (!bytes.empty()) std::memcpy(copy.data(), bytes.data(), bytes.size());
  return copy;
}

}  // namespace stoker
