// bzip2, decompression.
#pragma once

#include <memory>
#include <string_view>

#include "stoker/base/ledger.h"
#include "stoker/io/byte_source.h"

namespace stoker {

// Decompresses `compressed` as it is read, with libbz2: 128 KiB of input and 3.7 MB of state are
// held. Streams that follow each other are one (bzip2(1) and pbzip2 write such). Each block's and
// each stream's CRC-32 is verified. What follows the last stream: zero bytes are padding and are
// ignored; anything else is an error, since it may be a stream with a damaged head. Errors:
// kDataLoss ("x.bz2: byte 812 (compressed): what; what to do") for input that is no bzip2, damaged
// or cut short; those of `compressed`.
//   account  what the input and the decoder are charged to while the source lives; may be null
std::unique_ptr<ByteSource> MakeBzip2Source(std::unique_ptr<ByteSource> compressed,
                                            std::shared_ptr<MemoryAccount> account = nullptr);

// Whether a file that begins with `start`, its first 8 bytes or more, is compressed so: "BZh" alone
// may begin a text.
bool BeginsBzip2(std::string_view start);

}  // namespace stoker
