// Blocks of compressed bytes that are known to become so many: chunks of arrays.
#pragma once

#include <cstddef>
#include <span>

#include "stoker/base/status.h"

namespace stoker {

// The most bytes that a byte becomes: what announces more is refused before memory is asked for.
inline constexpr uint64_t kDeflateMostGrowth = 1032;
// Of zstd: a block of 128 KiB from 4 bytes.
inline constexpr uint64_t kZstdMostGrowth = 1 << 15;

enum class BlockForm { kZlib, kGzip, kZstd };

// Decompresses all of `block` into `out`, which it must fill exactly; the checksum of the form, if
// it has one, is verified. Thread-safe. Errors: kDataLoss, without saying where.
Status InflateBlock(BlockForm form, std::span<const std::byte> block, std::span<std::byte> out);

}  // namespace stoker
