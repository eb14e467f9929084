// Models of SentencePiece, byte by byte, for tests.
#pragma once

#include <cstring>
#include <string>

namespace stoker {

// Returns a field of a protocol buffer that holds `content`.
inline std::string ProtoField(int number, const std::string& content) {
  std::string size;
  for (size_t rest = content.size(); size.empty() || rest > 0; rest >>= 7)
    size += static_cast<char>((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
  return static_cast<char>(number << 3 | 2) + size + content;
}

enum class TestPiece : char { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4 };

inline std::string ProtoPiece(const std::string& text, float score, TestPiece type) {
  std::string bytes(sizeof(score), '\0');
  std::memcpy(bytes.data(), &score, sizeof(score));
  return ProtoField(1, ProtoField(1, text) + "\x15" + bytes + "\x18" + static_cast<char>(type));
}

// Returns the end after the pieces: the algorithm (1: unigram, 2: BPE), and no normalisation of
// text.
inline std::string ProtoEnd(int algorithm) {
  return ProtoField(2, std::string{'\x18', static_cast<char>(algorithm)}) +
         ProtoField(3, ProtoField(1, "identity"));
}

}  // namespace stoker
