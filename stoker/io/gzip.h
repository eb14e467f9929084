// gzip (RFC 1952), both ways, and the bare zlib stream (RFC 1950).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "stoker/base/ledger.h"
#include "stoker/base/status.h"
#include "stoker/io/byte_source.h"

namespace stoker {

// Decompresses `compressed` as it is read, with isa-l's igzip; holds about 250 KiB of input and 110
// KiB of state. Concatenated members are one stream. Verifies each member's CRC-32 and length.
// After the last member, zero bytes are ignored as padding, as gzip(1) does; anything else is an
// error, because it may be a member with a damaged head (gzip warns and exits with 2). Errors:
// kDataLoss ("x.gz: byte 812 (compressed): what; what to do") for input that is not gzip, damaged
// or truncated; those of `compressed`. Large reads (64 KiB and more) are the fastest.
//   account  what the input and the state are charged to while the source lives; may be null
std::unique_ptr<ByteSource> MakeGzipSource(std::unique_ptr<ByteSource> compressed,
                                           std::shared_ptr<MemoryAccount> account = nullptr);

// Returns the same for one zlib stream, the form of TFRecord files with compression ZLIB; verifies
// its Adler-32. A preset dictionary is kUnimplemented; bytes after the stream are an error.
std::unique_ptr<ByteSource> MakeZlibSource(std::unique_ptr<ByteSource> compressed,
                                           std::shared_ptr<MemoryAccount> account = nullptr);

// Compresses `bytes` with zlib to one gzip member without name and time, so equal input gives equal
// output.
//   level  1 (fast) .. 9 (small); kInvalidArgument outside
Result<std::vector<std::byte>> GzipCompress(std::span<const std::byte> bytes, int level = 6);

}  // namespace stoker
