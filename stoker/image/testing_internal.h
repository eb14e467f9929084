// Helpers for tests of pixel kernels. Only tests include it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "stoker/image/pixel_view.h"

namespace stoker {

// Mixed bytes: those of the golden values' generator (Numerical Recipes' LCG, upper byte).
inline std::vector<uint8_t> MixedBytes(int64_t n, uint32_t seed) {
  std::vector<uint8_t> bytes(static_cast<size_t>(n));
  for (uint8_t& byte : bytes) {
    seed = seed * 1664525u + 1013904223u;
    byte = static_cast<uint8_t>(seed >> 24);
  }
  return bytes;
}

inline std::vector<uint8_t> BytesOfHex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<uint8_t>(digit(hex[i]) * 16 + digit(hex[i + 1])));
  return bytes;
}

inline PixelView Interleaved(const std::vector<uint8_t>& bytes, int64_t height, int64_t width,
                             int64_t channels) {
  return {bytes.data(), height, width, channels, width * channels, 0};
}
inline PixelView Planar(const std::vector<uint8_t>& bytes, int64_t height, int64_t width,
                        int64_t channels) {
  return {bytes.data(), height, width, channels, width, height * width};
}

}  // namespace stoker
