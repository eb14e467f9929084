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

// Decompresses `compressed` as it is read, with isa-l's igzip: about 250 KiB of input and 110 KiB
// of state are held. Members that follow each other are one stream. Each member's CRC-32 and length
// are verified. What follows the last member: zero bytes are padding and are ignored, as gzip(1)
// does; anything else, which gzip ignores with a warning and an exit status of 2, is an error here,
// since it may be a member with a damaged head. Errors: kDataLoss ("x.gz: byte 812 (compressed):
// what; what to do") for input that is no gzip, damaged or cut short; those of `compressed`. Large
// reads (64 KiB and more) are the fastest.
//   account  what the input and the state are charged to while the source lives; may be null
std::unique_ptr<ByteSource> MakeGzipSource(std::unique_ptr<ByteSource> compressed,
                                           std::shared_ptr<MemoryAccount> account = nullptr);

// The same for one zlib stream, the form of TFRecord files that are called ZLIB: its Adler-32 is
// verified. A preset dictionary is kUnimplemented, and whatever follows the stream is an error.
std::unique_ptr<ByteSource> MakeZlibSource(std::unique_ptr<ByteSource> compressed,
                                           std::shared_ptr<MemoryAccount> account = nullptr);

// `bytes` as one gzip member without name and time, so equal input gives equal output; with zlib.
//   level  1 (fast) .. 9 (small); kInvalidArgument outside
Result<std::vector<std::byte>> GzipCompress(std::span<const std::byte> bytes, int level = 6);

}  // namespace stoker
