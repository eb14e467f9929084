// zstd (RFC 8878), decompression.
#pragma once

#include <memory>

#include "stoker/base/ledger.h"
#include "stoker/io/byte_source.h"

namespace stoker {

// Decompresses `compressed` as it is read, with libzstd; holds 128 KiB of input and the window that
// the data asks for (8 MiB at most by default, 128 MiB with zstd --long). Concatenated frames are
// one stream, and skippable frames are skipped; anything else after a frame is an error. Verifies a
// frame's checksum if it has one (zstd(1) writes it). Errors: kDataLoss ("x.zst: byte 812
// (compressed): what; what to do") for input that is not zstd, damaged or truncated; kUnimplemented
// for a window of more than 128 MiB, and for a dictionary; those of `compressed`.
//   account  what the input and the decoder are charged to while the source lives; may be null
std::unique_ptr<ByteSource> MakeZstdSource(std::unique_ptr<ByteSource> compressed,
                                           std::shared_ptr<MemoryAccount> account = nullptr);

}  // namespace stoker
