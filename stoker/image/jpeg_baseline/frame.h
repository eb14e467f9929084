// The header of a baseline JPEG (ITU-T T.81, annex B): everything before the coded pixels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "stoker/base/status.h"

namespace stoker::jpeg_baseline {

inline constexpr int kBlockSize = 8;         // pixels, each way
inline constexpr int kBlockValues = 64;      // coefficients of a block
inline constexpr int kMaxComponents = 3;     // Y, Cb, Cr
inline constexpr int kMaxBlocksPerMcu = 10;  // T.81, B.2.3

// The index in a block, row by row, of each place of the zigzag order (T.81, figure 5).
inline constexpr std::array<uint8_t, kBlockValues> kZigzagToNatural = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

// A Huffman code as DHT gives it: the number of codes of each length, and their values.
struct HuffmanCode {
  std::array<uint8_t, 16> counts{};   // [i]: codes of i + 1 bits
  std::array<uint8_t, 256> values{};  // of the codes in order; zero if unused
  int num_values = 0;                 // 0: not defined

  bool operator==(const HuffmanCode&) const = default;
};

// Divisors of the coefficients, row by row.
struct QuantTable {
  std::array<int16_t, kBlockValues> divisors{};
  bool defined = false;
};

struct Component {
  int id = 0;
  int across = 1;  // blocks in an MCU: "horizontal sampling factor"
  int down = 1;
  int quant = 0;  // indices of tables
  int dc_code = 0;
  int ac_code = 0;
};

// A picture of one (grey) or three (Y, Cb, Cr) components, in one interleaved scan.
struct Frame {
  int width = 0;
  int height = 0;
  int num_components = 0;
  std::array<Component, kMaxComponents> components{};
  std::array<QuantTable, 4> quants{};
  std::array<HuffmanCode, 4> dc_codes{};
  std::array<HuffmanCode, 4> ac_codes{};
  int restart_interval = 0;  // MCUs; 0: no restart markers
  size_t scan_at = 0;        // byte of the file at which the coded pixels begin

  // Return the factors of the largest component, to which the others are expanded.
  int max_across() const;
  int max_down() const;
  int mcu_width() const { return max_across() * kBlockSize; }  // pixels
  int mcu_height() const { return max_down() * kBlockSize; }
  int mcus_across() const { return (width + mcu_width() - 1) / mcu_width(); }
  int mcus_down() const { return (height + mcu_height() - 1) / mcu_height(); }
};

// Reads the header up to the coded pixels.
//   jpeg   the whole file; borrowed until the call returns
//   name   what messages call it: the file's path
//   frame  overwritten; unspecified unless the call returns true
// Returns whether this decoder takes the picture: 8 bits, Huffman-coded, sequential (SOF0, SOF1),
// grey or YCbCr with Cb and Cr of one size and Y at 1, 2 or 4 times their width and 1 or 2 times
// their height, everything in one scan. If false, use another decoder. Cost: about a microsecond;
// nothing is allocated. Errors: kDataLoss (not a JPEG, cut short, inconsistent tables; with the
// byte).
Result<bool> ParseFrame(std::span<const std::byte> jpeg, std::string_view name, Frame& frame);

}  // namespace stoker::jpeg_baseline
