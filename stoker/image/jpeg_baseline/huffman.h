// Huffman codes of JPEG made into tables that tell, from the next bits alone, which coefficients
// they are: one look-up gives two coefficients with their places where both fit, so that the chain
// "look up, shift, look up" that limits a decoder is half as long.
#pragma once

#include <array>
#include <cstdint>

#include "stoker/image/jpeg_baseline/frame.h"

namespace stoker::jpeg_baseline {

inline constexpr int kDcBits = 9;   // that a look-up goes by
inline constexpr int kAcBits = 11;  // at most 15: an AcEntry has 4 bits for a length
inline constexpr int kSkipBits = 11;
inline constexpr int kMaxDcSize = 11;  // bits of a value; T.81, tables F.1 and F.2
inline constexpr int kMaxAcSize = 10;

// Places of a block are counted along the zigzag, 0..63. An end of block moves the place on by so
// much, which no run of coefficients does: a place in [kEndOfBlock, kEndOfBlock + 62] says that the
// block ended early, in order.
inline constexpr int kEndOfBlock = 127;
inline constexpr int kMaxPlace = 62 + 16 + kEndOfBlock;

// A code's words by length, to find words of any length (T.81, F.2.2.3).
class CodeWords {
 public:
  struct Word {
    int length = 0;  // bits; 0: no word begins like this
    uint8_t symbol = 0;
  };

  // False where there are more words of a length than there can be. A word of ones alone is none.
  [[nodiscard]] bool Build(const HuffmanCode& code);

  // The word that the 16 bits begin with.
  Word Find(uint32_t bits16) const;

 private:
  std::array<uint32_t, 17> end_;  // [length]: the first 16 bits that come after such words
  std::array<int, 17> offset_;    // [length]: of a word's symbol from the word itself
  std::array<uint8_t, 256> symbols_;
};

struct DcTable {
  struct Entry {
    uint8_t length;  // of the word; 0: longer than kDcBits
    uint8_t size;    // bits of the value behind it
  };
  std::array<Entry, 1 << kDcBits> entries;
  CodeWords words;
};

// What the next kAcBits bits say. Two steps from place to place, each with a value to put there; an
// end of block and a run of 16 zeros put a zero where one is.
//   bits 0..3    length: bits used up; 0: not a whole step, see LongEntry
//   bits 4..8    first step: places to go on
//   bits 9..15   second step: 0 where there is none (its value is then the first one again)
//   bits 16..23  first value, signed
//   bits 24..31  second value, signed
using AcEntry = uint32_t;
inline int LengthOf(AcEntry e) { return static_cast<int>(e & 15); }
inline int FirstStepOf(AcEntry e) { return static_cast<int>(e >> 4 & 31); }
inline int SecondStepOf(AcEntry e) { return static_cast<int>(static_cast<uint16_t>(e) >> 9); }
inline int8_t FirstValueOf(AcEntry e) { return static_cast<int8_t>(e >> 16); }
inline int8_t SecondValueOf(AcEntry e) { return static_cast<int8_t>(e >> 24); }

// An AcEntry of length 0: the word is known, but its value reaches beyond kAcBits or 7 bits; or the
// word is longer (WordLengthOf gives 0).
inline int WordLengthOf(AcEntry e) { return static_cast<int>(e >> 16); }
inline uint8_t SymbolOf(AcEntry e) { return static_cast<uint8_t>(e >> 8); }

// As many symbols as the next kSkipBits bits begin, values left out.
//   bits 0..4    length: bits used up, values included, at most kMaxSkipLength; 0: a longer word
//   bits 5..12   places to go on
using SkipEntry = uint16_t;
inline constexpr int kMaxSkipLength = 28;  // two of them are always there after a refill

struct AcTable {
  std::array<AcEntry, 1 << kAcBits> entries;
  std::array<SkipEntry, 1 << kSkipBits> skips;
  CodeWords words;
};

// Makes the table of a code. Returns false where the code contradicts itself.
// Cost: some 20 microseconds for an AcTable; nothing is allocated.
[[nodiscard]] bool MakeTable(const HuffmanCode& code, DcTable& table);
[[nodiscard]] bool MakeTable(const HuffmanCode& code, AcTable& table);

// The table of a code that most encoders use (T.81, K.3: what they have when they do not make one
// for the picture); nullptr for other codes. Made once for the process. Threads: safe.
const DcTable* StandardDcTable(const HuffmanCode& code);
const AcTable* StandardAcTable(const HuffmanCode& code);

// The value of `size` bits, 0..15, that begin a value's bits (T.81, F.2.2.1, EXTEND).
inline int Extend(int bits, int size) {
  return bits < (1 << size >> 1) ? bits - (1 << size) + 1 : bits;
}

}  // namespace stoker::jpeg_baseline
