// For tests and fuzzers of formats that are parsed where they lie in memory.
#pragma once

#include <cstring>
#include <span>

#include "stoker/base/buffer.h"

namespace stoker {

// In memory of exactly their size, so that a sanitizer sees what reads beyond.
inline Buffer CopyOf(std::span<const std::byte> bytes) {
  Buffer copy = Buffer::Allocate(bytes.size());
  if (!bytes.empty()) std::memcpy(copy.data(), bytes.data(), bytes.size());
  return copy;
}

}  // namespace stoker
