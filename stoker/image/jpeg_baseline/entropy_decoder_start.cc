// What an EntropyDecoder makes of a frame before the first MCU: its tables, and where the blocks of
// an MCU stand in a batch.
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "stoker/image/jpeg_baseline/entropy_decoder.h"

namespace stoker::jpeg_baseline {

Status EntropyDecoder::Start(const Frame& frame, std::span<const std::byte> jpeg,
                             std::string_view name,
                             const std::array<bool, kMaxComponents>& only_dc) {
  name_ = name;
  dc_.fill(nullptr);
  ac_.fill(nullptr);
  for (const Component& c : std::span(frame.components).first(frame.num_components)) {
    if (!ChooseTables(c, frame)) {
      return DataLoss("{}: before byte {}: a Huffman code has more words than its lengths allow",
                      name, frame.scan_at);
    }
  }
  PlanBlocks(frame, only_dc);
  restart_interval_ = frame.restart_interval;
  intervals_ = 0;
  state_.bytes.Start({reinterpret_cast<const uint8_t*>(jpeg.data()), jpeg.size()}, frame.scan_at);
  BeginInterval();
  return OkStatus();
}

// False if a code contradicts itself.
bool EntropyDecoder::ChooseTables(const Component& c, const Frame& frame) {
  const DcTable*& dc = dc_[c.dc_code];
  if (dc == nullptr) dc = StandardDcTable(frame.dc_codes[c.dc_code]);
  if (dc == nullptr) {
    if (!MakeTable(frame.dc_codes[c.dc_code], dc_tables_[c.dc_code])) return false;
    dc = &dc_tables_[c.dc_code];
  }
  const AcTable*& ac = ac_[c.ac_code];
  if (ac == nullptr) ac = StandardAcTable(frame.ac_codes[c.ac_code]);
  if (ac == nullptr) {
    if (!MakeTable(frame.ac_codes[c.ac_code], ac_tables_[c.ac_code])) return false;
    ac = &ac_tables_[c.ac_code];
  }
  return true;
}

void EntropyDecoder::PlanBlocks(const Frame& frame,
                                const std::array<bool, kMaxComponents>& only_dc) {
  state_.num_blocks = 0;
  in_part_ = false;
  for (int component = 0; component < frame.num_components; ++component) {
    const Component& c = frame.components[component];
    for (int i = 0; i < c.down * c.across; ++i) {
      Block& block = state_.blocks[state_.num_blocks++];
      block.dc = dc_[c.dc_code];
      block.ac = ac_[c.ac_code];
      block.component = component;
      block.only_dc = only_dc[component];
      in_part_ |= block.only_dc;
      for (int mcu = 0; mcu < kGroupBlocks; ++mcu) {  // of a batch
        const int column = mcu * c.across + i % c.across;
        const int group =
            FirstGroupOf(frame, component) + i / c.across * c.across + column / kGroupBlocks;
        block.group[mcu] = static_cast<uint8_t>(group);
        block.first_value[mcu] =
            static_cast<uint16_t>(group * kGroupValues + column % kGroupBlocks * kBlockSize);
      }
    }
  }
}

}  // namespace stoker::jpeg_baseline
