// Compressed blocks of known decompressed size: chunks of arrays.
#pragma once

#include <cstddef>
#include <span>

#include "stoker/base/status.h"

namespace stoker {

// The most bytes that one byte can expand to. A block that announces more is refused before memory
// is allocated.
inline constexpr uint64_t kDeflateMostGrowth = 1032;
// Of zstd: a block of 128 KiB from 4 bytes.
inline constexpr uint64_t kZstdMostGrowth = 1 << 15;

enum class BlockForm { kZlib, kGzip, kZstd };

// Decompresses all of `block` into `out`, which it must fill exactly; verifies the checksum if the
// form has one. Thread-safe. Errors: kDataLoss, without the place.
Status InflateBlock(BlockForm form, std::span<const std::byte> block, std::span<std::byte> out);

}  // namespace stoker
