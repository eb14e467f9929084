// The compressions of whole files that are read. Their table in decompression.cc is the one place
// that lists them: opening, probing, `inspect`, and the option `compression` of tfrecord read it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "stoker/base/ledger.h"
#include "stoker/io/byte_source.h"

namespace stoker {

struct Decompression {
  std::string_view name;    // "gzip", as recipes and reports call it
  std::string_view ending;  // ".gz"; empty if its files have none of their own
  // Returns whether a file that begins with `start`, its first kCompressionStart bytes or all of a
  // shorter one, has this compression. Null if its first bytes do not tell.
  bool (*begins)(std::string_view start);
  // Decompresses `compressed`; see gzip.h and the others for errors.
  std::unique_ptr<ByteSource> (*make)(std::unique_ptr<ByteSource> compressed,
                                      std::shared_ptr<MemoryAccount> account);
};

// The number of first bytes that tell each compression.
inline constexpr size_t kCompressionStart = 8;

std::span<const Decompression> Decompressions();

// Returns the compression of a file that begins with `start`; null if it is plain, or cannot be
// told.
const Decompression* DecompressionOfStart(std::string_view start);

// Returns the name of a compression that is none of these, "lz4", by the file's ending and its
// first bytes; empty if there is no sign of one.
std::string_view UnreadCompression(std::string_view path, std::string_view start);

// Returns the compression with this name; null if there is none.
const Decompression* DecompressionNamed(std::string_view name);

// Returns "a.csv" of "a.csv.gz", and of the endings of the other compressions; a path without one
// as it is.
std::string_view WithoutCompressedEnding(std::string_view path);

}  // namespace stoker
