#include "stoker/image/jpeg_baseline/huffman.h"

#include <algorithm>
#include <memory>
#include <span>

namespace stoker::jpeg_baseline {
namespace {

constexpr uint8_t kZeroRun = 0xf0;  // 16 zeros: F.1.2.2.1

int SizeOf(uint8_t symbol) { return symbol & 15; }
int StepOf(uint8_t symbol) { return (symbol >> 4) + 1; }
// As libjpeg reads them: all symbols without a value but the run of 16 zeros.
bool EndsBlock(uint8_t symbol) { return SizeOf(symbol) == 0 && symbol != kZeroRun; }

// The word that each look-up of `bits` bits begins with; length 0 if it is longer.
template <size_t n>
void FillWords(const HuffmanCode& code, int bits, std::array<CodeWords::Word, n>& words) {
  words.fill({});
  size_t at = 0;
  int symbol = 0;
  for (int length = 1; length <= bits; ++length) {
    const size_t span = size_t{1} << (bits - length);
    for (int i = 0; i < code.counts[length - 1]; ++i, at += span) {
      const CodeWords::Word word{length, code.values[symbol++]};
      std::fill_n(words.begin() + static_cast<ptrdiff_t>(at), span, word);
    }
  }
}

using AcWords = std::array<CodeWords::Word, 1 << kAcBits>;

// Bits [from, from + size) of the look-up `index` of `kAcBits` bits.
int ValueAt(size_t index, int from, int size) {
  const int bits = static_cast<int>(index >> (kAcBits - from - size)) & ((1 << size) - 1);
  return size == 0 ? 0 : Extend(bits, size);
}

AcEntry MakeEntry(int length, int step, int value, int second_step, int second_value) {
  return static_cast<AcEntry>(length | step << 4 | second_step << 9) |
         AcEntry{static_cast<uint8_t>(value)} << 16 |
         AcEntry{static_cast<uint8_t>(second_value)} << 24;
}

// Whether a value can stand in an entry.
bool Fits(const CodeWords::Word& word, int from) {
  return word.length > 0 && SizeOf(word.symbol) <= 7 &&
         from + word.length + SizeOf(word.symbol) <= kAcBits;
}

AcEntry EntryAt(size_t index, const AcWords& words) {
  const CodeWords::Word first = words[index];
  if (!Fits(first, 0)) {
    return AcEntry{first.symbol} << 8 | static_cast<AcEntry>(first.length) << 16;
  }
  // Two steps, since the first has 5 bits. The zero goes where nothing has been put yet.
  if (EndsBlock(first.symbol)) return MakeEntry(first.length, 1, 0, kEndOfBlock - 1, 0);
  const int length = first.length + SizeOf(first.symbol);
  const int step = StepOf(first.symbol);
  const int value = ValueAt(index, first.length, SizeOf(first.symbol));
  const CodeWords::Word second = words[(index << length) & (words.size() - 1)];
  if (!Fits(second, length)) return MakeEntry(length, step, value, 0, value);
  const int size = SizeOf(second.symbol);
  return MakeEntry(length + second.length + size, step, value,
                   EndsBlock(second.symbol) ? kEndOfBlock : StepOf(second.symbol),
                   ValueAt(index, length + second.length, size));
}

SkipEntry SkipAt(size_t index, const AcWords& words) {
  static_assert(kSkipBits == kAcBits);
  int length = 0;
  int step = 0;
  while (length < kSkipBits) {
    const CodeWords::Word word = words[(index << length) & (words.size() - 1)];
    const int size = SizeOf(word.symbol);
    if (word.length == 0 || length + word.length > kSkipBits || size > kMaxAcSize) break;
    if (length + word.length + size > kMaxSkipLength) break;
    const bool ends = EndsBlock(word.symbol);
    // A sum of steps must not look like an end of block.
    if (!ends && step + StepOf(word.symbol) >= kBlockValues) break;
    length += word.length + size;
    step += ends ? kEndOfBlock : StepOf(word.symbol);
    if (ends) break;
  }
  return static_cast<SkipEntry>(length | step << 5);
}

// T.81, tables K.3 (luminance) and K.4 (chrominance).
constexpr std::array<HuffmanCode, 2> kStandardDcCodes = {{
    {{0, 1, 5, 1, 1, 1, 1, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 12},
    {{0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 12},
}};

// T.81, tables K.5 and K.6.
constexpr std::array<HuffmanCode, 2> kStandardAcCodes = {{
    {{0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125},
     {0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61,
      0x07, 0x22, 0x71, 0x14, 0x32, 0x81, 0x91, 0xa1, 0x08, 0x23, 0x42, 0xb1, 0xc1, 0x15, 0x52,
      0xd1, 0xf0, 0x24, 0x33, 0x62, 0x72, 0x82, 0x09, 0x0a, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x25,
      0x26, 0x27, 0x28, 0x29, 0x2a, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x43, 0x44, 0x45,
      0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0x63, 0x64,
      0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x83,
      0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99,
      0x9a, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6,
      0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd2, 0xd3,
      0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8,
      0xe9, 0xea, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa},
     162},
    {{0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 119},
     {0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x05, 0x21, 0x31, 0x06, 0x12, 0x41, 0x51, 0x07, 0x61,
      0x71, 0x13, 0x22, 0x32, 0x81, 0x08, 0x14, 0x42, 0x91, 0xa1, 0xb1, 0xc1, 0x09, 0x23, 0x33,
      0x52, 0xf0, 0x15, 0x62, 0x72, 0xd1, 0x0a, 0x16, 0x24, 0x34, 0xe1, 0x25, 0xf1, 0x17, 0x18,
      0x19, 0x1a, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x43, 0x44,
      0x45, 0x46, 0x47, 0x48, 0x49, 0x4a, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0x63,
      0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a,
      0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97,
      0x98, 0x99, 0x9a, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb2, 0xb3, 0xb4,
      0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca,
      0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7,
      0xe8, 0xe9, 0xea, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa},
     162},
}};

// Which of the two codes is meant; -1 for another one.
int StandardIndex(const std::array<HuffmanCode, 2>& codes, const HuffmanCode& code) {
  return code == codes[0] ? 0 : code == codes[1] ? 1 : -1;
}

template <class Table>
const Table* StandardTable(const std::array<HuffmanCode, 2>& codes, const HuffmanCode& code) {
  static const auto tables = [&codes] {
    auto made = std::make_unique<std::array<Table, 2>>();
    for (size_t i = 0; i < 2; ++i) (void)MakeTable(codes[i], (*made)[i]);
    return made;
  }();
  const int index = StandardIndex(codes, code);
  return index < 0 ? nullptr : &(*tables)[static_cast<size_t>(index)];
}

}  // namespace

const DcTable* StandardDcTable(const HuffmanCode& code) {
  return StandardTable<DcTable>(kStandardDcCodes, code);
}

const AcTable* StandardAcTable(const HuffmanCode& code) {
  return StandardTable<AcTable>(kStandardAcCodes, code);
}

bool CodeWords::Build(const HuffmanCode& code) {
  uint32_t next = 0;  // word, in the high bits of 16
  int symbol = 0;
  for (int length = 1; length <= 16; ++length) {
    const int count = code.counts[length - 1];
    const uint32_t span = 1u << (16 - length);
    offset_[length] = symbol - static_cast<int>(next / span);
    next += span * static_cast<uint32_t>(count);
    symbol += count;
    if (next > (1u << 16) - span && count > 0) return false;  // C.2: no word is all ones
    end_[length] = next;
  }
  symbols_ = code.values;
  return true;
}

CodeWords::Word CodeWords::Find(uint32_t bits16) const {
  for (int length = 1; length <= 16; ++length) {
    if (bits16 < end_[length]) {
      return {length, symbols_[offset_[length] + static_cast<int>(bits16 >> (16 - length))]};
    }
  }
  return {};
}

bool MakeTable(const HuffmanCode& code, DcTable& table) {
  if (!table.words.Build(code)) return false;
  std::array<CodeWords::Word, 1 << kDcBits> words;
  FillWords(code, kDcBits, words);
  for (size_t i = 0; i < words.size(); ++i) {
    const bool known = words[i].symbol <= kMaxDcSize;
    table.entries[i] = {static_cast<uint8_t>(known ? words[i].length : 0), words[i].symbol};
  }
  return true;
}

bool MakeTable(const HuffmanCode& code, AcTable& table) {
  if (!table.words.Build(code)) return false;
  AcWords words;
  FillWords(code, kAcBits, words);
  for (size_t i = 0; i < words.size(); ++i) {
    table.entries[i] = EntryAt(i, words);
    table.skips[i] = SkipAt(i, words);
  }
  return true;
}

}  // namespace stoker::jpeg_baseline
