// Look-up tables of JPEG's Huffman codes, which map the next bits to coefficients: one look-up
// gives two coefficients with their places if both fit, which halves the chain "look up, shift,
// look up" that limits a decoder.
#pragma once

#include <array>
#include <cstdint>

#include "stoker/image/jpeg_baseline/frame.h"

namespace stoker::jpeg_baseline {

inline constexpr int kDcBits = 9;   // per look-up
inline constexpr int kAcBits = 11;  // at most 15: an AcEntry has 4 bits for a length
inline constexpr int kSkipBits = 11;
inline constexpr int kMaxDcSize = 11;  // bits of a value; T.81, tables F.1 and F.2
inline constexpr int kMaxAcSize = 10;

// Places of a block are counted along the zigzag, 0..63. An end of block advances the place by this
// amount, which no run of coefficients does: a place in [kEndOfBlock, kEndOfBlock + 62] says that
// the block ended early, in order.
inline constexpr int kEndOfBlock = 127;
inline constexpr int kMaxPlace = 62 + 16 + kEndOfBlock;

// A code's words by length, to find words of any length (T.81, F.2.2.3).
class CodeWords {
 public:
  struct Word {
    int length = 0;  // bits; 0: no word begins like this
    uint8_t symbol = 0;
  };

  // Returns false if there are more words of a length than possible. A word of only ones is not
  // allowed.
  [[nodiscard]] bool Build(const HuffmanCode& code);

  // Returns the word that the 16 bits begin with.
  Word Find(uint32_t bits16) const;

 private:
  std::array<uint32_t, 17> end_;  // [length]: the first 16 bits that come after such words
  std::array<int, 17> offset_;    // [length]: of a word's symbol from the word itself
  std::array<uint8_t, 256> symbols_;
};

struct DcTable {
  struct Entry {
    uint8_t length;  // of the word; 0: longer than kDcBits
    uint8_t size;    // bits of the value that follows
  };
  std::array<Entry, 1 << kDcBits> entries;
  CodeWords words;
};

// The meaning of the next kAcBits bits: two steps from place to place, each with a value to put
// there. An end of block and a run of 16 zeros put a zero where one already is.
//   bits 0..3    length: bits used up; 0: not a complete step, see LongEntry
//   bits 4..8    first step: places to go on
//   bits 9..15   second step: 0 if there is none (its value then repeats the first)
//   bits 16..23  first value, signed
//   bits 24..31  second value, signed
using AcEntry = uint32_t;
inline int LengthOf(AcEntry e) { return static_cast<int>(e & 15); }
inline int FirstStepOf(AcEntry e) { return static_cast<int>(e >> 4 & 31); }
inline int SecondStepOf(AcEntry e) { return static_cast<int>(static_cast<uint16_t>(e) >> 9); }
inline int8_t FirstValueOf(AcEntry e) { return static_cast<int8_t>(e >> 16); }
inline int8_t SecondValueOf(AcEntry e) { return static_cast<int8_t>(e >> 24); }

// For an AcEntry of length 0. The word is known, but its value extends beyond kAcBits or 7 bits; or
// the word is longer (WordLengthOf returns 0).
inline int WordLengthOf(AcEntry e) { return static_cast<int>(e >> 16); }
inline uint8_t SymbolOf(AcEntry e) { return static_cast<uint8_t>(e >> 8); }

// All symbols that begin in the next kSkipBits bits, without their values.
//   bits 0..4    length: bits used up, values included, at most kMaxSkipLength; 0: a longer word
//   bits 5..12   places to go on
using SkipEntry = uint16_t;
inline constexpr int kMaxSkipLength = 28;  // two of them are always there after a refill

struct AcTable {
  std::array<AcEntry, 1 << kAcBits> entries;
  std::array<SkipEntry, 1 << kSkipBits> skips;
  CodeWords words;
};

// Makes the table of a code. Returns false if the code is inconsistent. Cost: about 20 microseconds
// for an AcTable; nothing is allocated.
[[nodiscard]] bool MakeTable(const HuffmanCode& code, DcTable& table);
[[nodiscard]] bool MakeTable(const HuffmanCode& code, AcTable& table);

// Returns the shared table of a typical code (T.81, K.3), which most encoders use; nullptr for
// other codes. Made once for the process. Thread-safe.
const DcTable* StandardDcTable(const HuffmanCode& code);
const AcTable* StandardAcTable(const HuffmanCode& code);

// Returns the value of `size` bits, 0..15, that begin a value's bits (T.81, F.2.2.1, EXTEND).
inline int Extend(int bits, int size) {
  return bits < (1 << size >> 1) ? bits - (1 << size) + 1 : bits;
}

}  // namespace stoker::jpeg_baseline
