#include "stoker/image/jpeg_baseline/entropy_decoder.h"

#include <algorithm>
#include <bit>
#include <cstring>

// The loops are scalar; compiled for each instruction set all the same, they shift with BMI2 where
// there is one, which takes no flags and no fixed register.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stoker/image/jpeg_baseline/entropy_decoder.cc"  // NOLINT
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#ifndef STOKER_IMAGE_JPEG_BASELINE_ENTROPY_DECODER_ONCE
#define STOKER_IMAGE_JPEG_BASELINE_ENTROPY_DECODER_ONCE
namespace stoker::jpeg_baseline {

using BitReader = EntropyDecoder::BitReader;
using Block = EntropyDecoder::Block;
using DecoderState = EntropyDecoder::State;

// No MCU is longer: its blocks have at most a DC value of 16 + 11 bits and 63 AC values of 16 + 10.
inline constexpr ptrdiff_t kMaxMcuBytes = kMaxBlocksPerMcu * (27 + 63 * 26) / 8 + 8;
static_assert(kMaxMcuBytes + 16 < ptrdiff_t{EntropyBytes::kSlack});

// Where in a group the value at each place of the zigzag is put. Places past the end, which an end
// of block and damaged bytes lead to, are all in the row for values that belong nowhere.
inline constexpr auto kPlaceInGroup = [] {
  std::array<uint16_t, kMaxPlace + 1> places{};
  for (size_t place = 0; place < places.size(); ++place) {
    const int natural = place < kBlockValues ? kZigzagToNatural[place] : kBlockValues;
    places[place] = static_cast<uint16_t>(natural / kBlockSize * kGroupRow + natural % kBlockSize);
  }
  return places;
}();

// Before an MCU: brings bytes where the window may not have enough. False past the interval's end.
inline bool RefillForMcu(DecoderState& state, BitReader& reader) {
  reader.at = state.bytes.Refill(reader.at);
  return (reader.at - state.bytes.end()) * 8 <= reader.count;
}

}  // namespace stoker::jpeg_baseline
#endif  // STOKER_IMAGE_JPEG_BASELINE_ENTROPY_DECODER_ONCE

HWY_BEFORE_NAMESPACE();
namespace stoker::jpeg_baseline {
namespace HWY_NAMESPACE {

// At least 56 bits afterwards. The bits that are loaded again are those that were there: Giesen,
// "Reading bits in far too many ways" (2018), part 2, variant 4.
HWY_INLINE void Fill(BitReader& reader) {
  uint64_t next;
  std::memcpy(&next, reader.at, sizeof(next));
  if constexpr (std::endian::native == std::endian::little) next = __builtin_bswap64(next);
  reader.bits |= next >> reader.count;
  reader.at += (63 - reader.count) >> 3;
  reader.count |= 56;
}

HWY_INLINE void Drop(BitReader& reader, int bits) {
  reader.bits <<= bits;
  reader.count -= bits;
}

// The value of the next `size` bits.
HWY_INLINE int TakeValue(BitReader& reader, int size) {
  const int bits = static_cast<int>(reader.bits >> 1 >> (63 - size));
  Drop(reader, size);
  return Extend(bits, size);
}

// False for a word that there is not.
HWY_INLINE bool DecodeDc(BitReader& reader, const DcTable& table, int& dc) {
  Fill(reader);
  const DcTable::Entry entry = table.entries[reader.bits >> (64 - kDcBits)];
  int length = entry.length;
  int size = entry.size;
  if (HWY_UNLIKELY(length == 0)) {
    const CodeWords::Word word = table.words.Find(static_cast<uint32_t>(reader.bits >> 48));
    if (word.length == 0 || word.symbol > kMaxDcSize) return false;
    length = word.length;
    size = word.symbol;
  }
  Drop(reader, length);
  // Damaged bytes may add up to anything; the sum wraps.
  dc = static_cast<int>(static_cast<unsigned>(dc) + static_cast<unsigned>(TakeValue(reader, size)));
  return true;
}

// One symbol alone, of any length. Moves `place` on, and puts the value there where it is wanted.
template <bool kKeep>
HWY_INLINE bool DecodeOne(BitReader& reader, const AcTable& table, size_t& place, int16_t* values) {
  Fill(reader);
  const AcEntry entry = table.entries[reader.bits >> (64 - kAcBits)];
  CodeWords::Word word{WordLengthOf(entry), SymbolOf(entry)};
  if (LengthOf(entry) != 0 || word.length == 0) {
    word = table.words.Find(static_cast<uint32_t>(reader.bits >> 48));
  }
  const int size = word.symbol & 15;
  const int run = word.symbol >> 4;
  if (word.length == 0 || size > kMaxAcSize) return false;
  Drop(reader, word.length);
  if (size == 0 && run != 15) {
    place += kEndOfBlock;
    return true;
  }
  place += static_cast<size_t>(run) + 1;
  if (place >= kBlockValues) return false;
  const int value = TakeValue(reader, size);
  if (kKeep && size > 0) values[kPlaceInGroup[place]] = static_cast<int16_t>(value);
  return true;
}

// Whether a block ended at `place` in order: by its last value or an end of block before that.
HWY_INLINE bool IsEnd(size_t place) {
  return place == kBlockValues - 1 || place - kEndOfBlock < kBlockValues - 1;
}

// One symbol after the other to the end of a block, from where a look-up went past it.
template <bool kKeep>
HWY_INLINE bool DecodeToEnd(BitReader& reader, const AcTable& table, size_t& place,
                            int16_t* values) {
  do {
    if (!DecodeOne<kKeep>(reader, table, place, values)) return false;
  } while (place < kBlockValues - 1);
  return IsEnd(place);
}

// The AC values of a block. `place` comes in as 0 and goes out as the last one with a value.
HWY_INLINE bool DecodeAc(BitReader& reader, const AcTable& table, size_t& place, int16_t* values) {
  static_assert(4 * kAcBits <= 56);
  BitReader before;
  size_t place_before;
  for (;;) {
    Fill(reader);
    for (int i = 0; i < 4; ++i) {  // unrolled
      const AcEntry entry = table.entries[reader.bits >> (64 - kAcBits)];
      const int length = LengthOf(entry);
      before = reader;
      place_before = place;
      if (HWY_UNLIKELY(length == 0)) {
        if (!DecodeOne<true>(reader, table, place, values)) return false;
        if (place >= kBlockValues - 1) goto end;
        break;
      }
      Drop(reader, length);
      place += static_cast<size_t>(FirstStepOf(entry));
      values[kPlaceInGroup[place]] = FirstValueOf(entry);
      place += static_cast<size_t>(SecondStepOf(entry));
      values[kPlaceInGroup[place]] = SecondValueOf(entry);
      if (place >= kBlockValues - 1) goto end;
    }
  }
end:
  if (HWY_UNLIKELY(!IsEnd(place))) {
    // The look-up went on into the next block. What it put past the end is nowhere.
    reader = before;
    place = place_before;
    if (!DecodeToEnd<true>(reader, table, place, values)) return false;
  }
  if (place >= kEndOfBlock) place -= kEndOfBlock;
  return true;
}

HWY_INLINE bool SkipAc(BitReader& reader, const AcTable& table) {
  static_assert(2 * kMaxSkipLength <= 56);
  size_t place = 0;
  BitReader before;
  size_t place_before;
  for (;;) {
    Fill(reader);
    for (int i = 0; i < 2; ++i) {  // unrolled
      const SkipEntry entry = table.skips[reader.bits >> (64 - kSkipBits)];
      const int length = entry & 31;
      before = reader;
      place_before = place;
      if (HWY_UNLIKELY(length == 0)) {
        if (!DecodeOne<false>(reader, table, place, nullptr)) return false;
        if (place >= kBlockValues - 1) goto end;
        break;
      }
      Drop(reader, length);
      place += static_cast<size_t>(entry >> 5);
      if (place >= kBlockValues - 1) goto end;
    }
  }
end:
  if (HWY_LIKELY(IsEnd(place))) return true;
  reader = before;
  place = place_before;
  return DecodeToEnd<false>(reader, table, place, nullptr);
}

// One block, with its values put where they belong.
HWY_INLINE bool DecodeBlock(BitReader& reader, const Block& block, int mcu, int& dc,
                            CoefficientBatch& batch) {
  int16_t* values = batch.values.data() + block.first_value[mcu];
  size_t place = 0;
  const bool good = DecodeDc(reader, *block.dc, dc) && DecodeAc(reader, *block.ac, place, values);
  values[0] = static_cast<int16_t>(dc);
  uint8_t& last_place = batch.last_place[block.group[mcu]];
  last_place = std::max(last_place, static_cast<uint8_t>(place));
  return good;
}

// How much is kept of the blocks that are read.
enum class Keep { kAll, kOnlyDcOfSome, kNothing };

// MCUs [first, last), of the batch where something is kept.
template <Keep kKeep>
HWY_INLINE bool ReadMcus(DecoderState& state, int64_t first, int64_t last,
                         CoefficientBatch* batch) {
  BitReader reader = state.reader;
  bool good = true;
  for (int64_t mcu = first; mcu < last && good; ++mcu) {
    if (HWY_UNLIKELY(state.bytes.end() - reader.at < kMaxMcuBytes)) {
      BitReader refilled = reader;  // so that the other one can stay in registers
      good = RefillForMcu(state, refilled);
      reader = refilled;
    }
    for (int i = 0; i < state.num_blocks && good; ++i) {
      const Block& block = state.blocks[i];
      int& dc = state.last_dc[block.component];
      if (kKeep == Keep::kAll || (kKeep == Keep::kOnlyDcOfSome && !block.only_dc)) {
        good = DecodeBlock(reader, block, static_cast<int>(mcu), dc, *batch);
        continue;
      }
      good = DecodeDc(reader, *block.dc, dc) && SkipAc(reader, *block.ac);
      if (kKeep != Keep::kNothing) {
        batch->values[block.first_value[mcu]] = static_cast<int16_t>(dc);
      }
    }
  }
  state.reader = reader;
  return good;
}

bool DecodeMcus(DecoderState& state, int first, int last, CoefficientBatch& batch) {
  return ReadMcus<Keep::kAll>(state, first, last, &batch);
}

bool DecodeMcusInPart(DecoderState& state, int first, int last, CoefficientBatch& batch) {
  return ReadMcus<Keep::kOnlyDcOfSome>(state, first, last, &batch);
}

bool SkipMcus(DecoderState& state, int64_t count) {
  return ReadMcus<Keep::kNothing>(state, 0, count, nullptr);
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker::jpeg_baseline
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::jpeg_baseline {
namespace {

HWY_EXPORT(DecodeMcus);
HWY_EXPORT(DecodeMcusInPart);
HWY_EXPORT(SkipMcus);

constexpr uint8_t kRst0 = 0xd0;  // T.81, table B.1
constexpr uint8_t kEoi = 0xd9;

}  // namespace

void EntropyDecoder::BeginInterval() {
  state_.reader = {.at = state_.bytes.begin()};
  state_.last_dc.fill(0);
  left_in_interval_ = restart_interval_ == 0 ? INT64_MAX : restart_interval_;
}

Status EntropyDecoder::Damaged() const {
  const BitReader& reader = state_.reader;
  const uint8_t* at =
      std::min(reader.at - std::min<ptrdiff_t>(reader.count / 8, reader.at - state_.bytes.begin()),
               state_.bytes.end());
  return DataLoss("{}: before byte {}: the coded pixels are damaged or cut short", name_,
                  state_.bytes.FileOffset(at));
}

// An interval's last byte is filled up with bits that mean nothing.
bool EntropyDecoder::EndsAsItShould() const {
  const ptrdiff_t left = (state_.bytes.end() - state_.reader.at) * 8 + state_.reader.count;
  return state_.bytes.complete() && left >= 0 && left < 8;
}

Status EntropyDecoder::NextInterval() {
  const uint8_t marker = state_.bytes.NextInterval();
  if (marker != kRst0 + intervals_ % 8) return Damaged();
  ++intervals_;
  BeginInterval();
  return OkStatus();
}

// How many of `count` MCUs come before the next marker.
int64_t EntropyDecoder::LeftInInterval(int64_t count) const {
  return std::min(count, left_in_interval_);
}

Status EntropyDecoder::Decode(int count, CoefficientBatch& batch) {
  for (int done = 0; done < count;) {
    if (left_in_interval_ == 0) {
      if (!EndsAsItShould()) return Damaged();
      STOKER_RETURN_IF_ERROR(NextInterval());
    }
    const int part = static_cast<int>(LeftInInterval(count - done));
    const bool good = in_part_
                          ? HWY_DYNAMIC_DISPATCH(DecodeMcusInPart)(state_, done, done + part, batch)
                          : HWY_DYNAMIC_DISPATCH(DecodeMcus)(state_, done, done + part, batch);
    if (!good) return Damaged();
    left_in_interval_ -= part;
    done += part;
  }
  return OkStatus();
}

Status EntropyDecoder::Skip(int64_t count) {
  while (count > 0) {
    if (left_in_interval_ == 0) {
      if (!EndsAsItShould()) return Damaged();
      STOKER_RETURN_IF_ERROR(NextInterval());
    }
    if (count > left_in_interval_) {  // nothing of the interval is wanted
      count -= left_in_interval_;
      STOKER_RETURN_IF_ERROR(NextInterval());
      continue;
    }
    const int64_t part = LeftInInterval(count);
    if (!HWY_DYNAMIC_DISPATCH(SkipMcus)(state_, part)) return Damaged();
    left_in_interval_ -= part;
    count -= part;
  }
  return OkStatus();
}

Status EntropyDecoder::Finish() {
  if (!EndsAsItShould() || state_.bytes.NextInterval() != kEoi) return Damaged();
  return OkStatus();
}

}  // namespace stoker::jpeg_baseline
#endif  // HWY_ONCE
