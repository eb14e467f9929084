// Checksums of byte strings, with isa-l, which selects the CPU's instructions at run time (about 10
// GB/s and more).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace stoker {

// CRC-32C (Castagnoli, RFC 3720 appendix B.4): of `bytes`, or, given the CRC `previous` of earlier
// bytes, of those followed by `bytes`.
uint32_t Crc32c(std::span<const std::byte> bytes, uint32_t previous = 0);
uint32_t Crc32c(std::string_view bytes, uint32_t previous = 0);

// CRC-32 as in gzip, zip and PNG (RFC 1952 section 8), likewise.
uint32_t Crc32(std::span<const std::byte> bytes, uint32_t previous = 0);
uint32_t Crc32(std::string_view bytes, uint32_t previous = 0);

// The masked form in which TFRecord and TensorBoard store a CRC-32C, because a CRC of data that
// holds its own CRC is weak. Source: tensorflow/core/lib/hash/crc32c.h.
constexpr uint32_t kCrcMaskDelta = 0xa282ead8u;
constexpr uint32_t MaskCrc32c(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + kCrcMaskDelta; }
constexpr uint32_t UnmaskCrc32c(uint32_t masked) {
  const uint32_t rotated = masked - kCrcMaskDelta;
  return (rotated >> 17) | (rotated << 15);
}

}  // namespace stoker
