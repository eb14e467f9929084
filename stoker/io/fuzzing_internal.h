// What the fuzzers of decompressors share.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stoker/io/byte_source.h"

namespace stoker {

inline constexpr size_t kMaxFuzzOutput = 1 << 16;  // longer outputs teach nothing

// Appends what `source` gives to `out`, read in pieces of `piece` bytes. False where it gives an
// error or more than kMaxFuzzOutput bytes.
inline bool ReadInPieces(ByteSource& source, size_t piece, std::string& out) {
  std::vector<std::byte> part(piece);
  while (out.size() <= kMaxFuzzOutput) {
    const Result<size_t> got = source.Read(part);
    if (!got.ok()) return false;
    if (*got == 0) return true;
    out.append(reinterpret_cast<const char*>(part.data()), *got);
  }
  return false;
}

}  // namespace stoker
