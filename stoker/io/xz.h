// xz (the .xz file format 1.1.0, tukaani.org/xz/xz-file-format.txt), decompression.
#pragma once

#include <memory>

#include "stoker/base/ledger.h"
#include "stoker/io/byte_source.h"

namespace stoker {

// Decompresses `compressed` as it is read, with liblzma; holds 128 KiB of input and the dictionary
// that the data asks for (64 MiB with xz -9). Concatenated streams, with padding between them and
// after the last, are read as one; anything else that follows is an error. Verifies each block's
// check (CRC-32, CRC-64 or SHA-256) if it has one. Errors: kDataLoss ("x.xz: byte 812 (compressed):
// what; what to do") for input that is not xz, damaged or truncated; kUnimplemented for a
// dictionary of more than 128 MiB, and for filters and checks that liblzma does not know; those of
// `compressed`.
//   account  what the input and the decoder are charged to while the source lives; may be null
std::unique_ptr<ByteSource> MakeXzSource(std::unique_ptr<ByteSource> compressed,
                                         std::shared_ptr<MemoryAccount> account = nullptr);

}  // namespace stoker
