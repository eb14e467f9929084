// Huffman decoding of a baseline scan, MCU by MCU. Decodes the wanted coefficients, and of the
// others only what is needed to find the next ones.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "stoker/image/jpeg_baseline/entropy_bytes.h"
#include "stoker/image/jpeg_baseline/frame.h"
#include "stoker/image/jpeg_baseline/huffman.h"

namespace stoker::jpeg_baseline {

// Four adjacent blocks of the picture, row by row: eight rows of 4 * 8 values, as the inverse DCT
// loads them, and a row for values that are discarded.
inline constexpr int kGroupBlocks = 4;
inline constexpr int kGroupRow = kGroupBlocks * kBlockSize;  // values
inline constexpr int kGroupValues = (kBlockSize + 1) * kGroupRow;

// The coefficients of up to four adjacent MCUs: each row of blocks of a component is as many groups
// as an MCU is blocks wide. The reader of a group must reset its values to zero.
struct CoefficientBatch {
  alignas(64) std::array<int16_t, kMaxBlocksPerMcu * kGroupValues> values{};
  // For each group, the last place of the zigzag at which one of its blocks may have a value.
  std::array<uint8_t, kMaxBlocksPerMcu> last_place{};
};

// Reads the MCUs of a scan in order. Large (about 80 KB), so not for the stack; needs no
// destructor. Not thread-safe.
class EntropyDecoder {
 public:
  // Begins with the first MCU of the picture.
  //   frame, jpeg, name  borrowed until the last call for this picture returns
  //   only_dc            the components of which only the first value of each block is wanted: the
  //                      others are skipped, which is quicker
  // Errors: kDataLoss if a Huffman code is inconsistent.
  Status Start(const Frame& frame, std::span<const std::byte> jpeg, std::string_view name,
               const std::array<bool, kMaxComponents>& only_dc = {});

  // Decodes the next `count` MCUs, 1..4, into `batch`, from its left side.
  // Errors: kDataLoss (damaged or cut short, with the byte). Damage often shows only later, or not
  // at all.
  Status Decode(int count, CoefficientBatch& batch);

  // Skips the next `count` MCUs. Only scans whole restart intervals for the marker at their end.
  // Errors: as above.
  Status Skip(int64_t count);

  // Call after the last MCU of the picture. Errors: kDataLoss if coded bytes are left, or the
  // marker at the end of the picture is missing.
  Status Finish();

  // The decoder's state for the inner loops.
  struct BitReader {
    uint64_t bits = 0;  // the next ones, from the top; below `count` there may be more
    int count = 0;
    const uint8_t* at = nullptr;  // the byte after those `count` bits
  };
  struct Block {
    const DcTable* dc;
    const AcTable* ac;
    int component;
    bool only_dc;
    // Of each MCU of a batch.
    std::array<uint16_t, kGroupBlocks> first_value;  // of CoefficientBatch::values
    std::array<uint8_t, kGroupBlocks> group;
  };
  struct State {
    BitReader reader;
    std::array<int, kMaxComponents> last_dc{};
    std::array<Block, kMaxBlocksPerMcu> blocks;
    int num_blocks = 0;
    EntropyBytes bytes;
  };

 private:
  bool ChooseTables(const Component& c, const Frame& frame);
  void PlanBlocks(const Frame& frame, const std::array<bool, kMaxComponents>& only_dc);
  void BeginInterval();
  // Skips the marker that must be here.
  Status NextInterval();
  bool EndsAsItShould() const;
  Status Damaged() const;
  int64_t LeftInInterval(int64_t count) const;

  State state_;
  std::string_view name_;
  bool in_part_ = false;  // of some blocks only the DC value
  int restart_interval_ = 0;
  int64_t left_in_interval_ = 0;  // MCUs
  int intervals_ = 0;
  // By their number in the frame: a standard table, or one of those below.
  std::array<const DcTable*, 4> dc_{};
  std::array<const AcTable*, 4> ac_{};
  std::array<DcTable, 4> dc_tables_;
  std::array<AcTable, 4> ac_tables_;
};

// Returns the order of the groups of a batch: component by component, each `down` rows of `across`
// groups.
inline int FirstGroupOf(const Frame& frame, int component) {
  int group = 0;
  for (int i = 0; i < component; ++i) {
    group += frame.components[i].across * frame.components[i].down;
  }
  return group;
}

}  // namespace stoker::jpeg_baseline
