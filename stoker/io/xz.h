// xz (the .xz file format 1.1.0, tukaani.org/xz/xz-file-format.txt), decompression.
#pragma once

#include <memory>

#include "stoker/base/ledger.h"
#include "stoker/io/byte_source.h"

namespace stoker {

// Decompresses `compressed` as it is read, with liblzma: 128 KiB of input, and the dictionary that
// the data asks for (64 MiB with xz -9) are held. Streams that follow each other, with padding
// between them and after the last, are one; anything else that follows is an error. Each block's
// check (CRC-32, CRC-64 or SHA-256) is verified where it has one. Errors: kDataLoss ("x.xz: byte
// 812 (compressed): what; what to do") for input that is no xz, damaged or cut short;
// kUnimplemented for a dictionary of more than 128 MiB, and for filters and checks that liblzma
// does not know; those of `compressed`.
//   account  what the input and the decoder are charged to while the source lives; may be null
std::unique_ptr<ByteSource> MakeXzSource(std::unique_ptr<ByteSource> compressed,
                                         std::shared_ptr<MemoryAccount> account = nullptr);

}  // namespace stoker
