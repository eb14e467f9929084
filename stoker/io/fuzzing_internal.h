// Helpers of the fuzzers of decompressors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/io/byte_source.h"

namespace stoker {

inline constexpr size_t kMaxFuzzOutput = 1 << 16;  // longer outputs find nothing more

// Appends the bytes of `source` to `out`, read in pieces of `piece` bytes. Returns false on an
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

// Decompresses `data` with the source that `make` puts over it, in small and in large pieces;
// aborts if these differ. Returns whether it was whole; `out` gets the bytes read in large pieces.
template <typename Make>
bool DecompressesAlikeInAnyPieces(Make make, const uint8_t* data, size_t size, std::string& out) {
  const auto decompress = [&](size_t piece, std::string& to) {
    const std::unique_ptr<ByteSource> source =
        make(MakeMemorySource(std::as_bytes(std::span(data, size)), "input"), nullptr);
    return ReadInPieces(*source, piece, to);
  };
  std::string small;
  const bool small_ok = decompress(33, small);
  const bool large_ok = decompress(1 << 17, out);
  if (small_ok != large_ok || (small_ok && small != out)) std::abort();
  return large_ok;
}

}  // namespace stoker
