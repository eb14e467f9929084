// bzip2, decompression.
#pragma once

#include <memory>
#include <string_view>

#include "stoker/base/ledger.h"
#include "stoker/io/byte_source.h"

namespace stoker {

// Decompresses `compressed` as it is read, with libbz2; holds 128 KiB of input and 3.7 MB of state.
// Concatenated streams are read as one (pbzip2 writes them). Verifies each block's and each
// stream's CRC-32. After the last stream, zero bytes are ignored as padding; anything else is an
// error, because it may be a stream with a damaged head. Errors: kDataLoss ("x.bz2: byte 812
// (compressed): what; what to do") for input that is not bzip2, damaged or truncated; those of
// `compressed`.
//   account  what the input and the decoder are charged to while the source lives; may be null
std::unique_ptr<ByteSource> MakeBzip2Source(std::unique_ptr<ByteSource> compressed,
                                            std::shared_ptr<MemoryAccount> account = nullptr);

// Returns whether a file that begins with `start`, its first 8 bytes or more, is bzip2: "BZh" alone
// may begin a text.
bool BeginsBzip2(std::string_view start);

}  // namespace stoker
