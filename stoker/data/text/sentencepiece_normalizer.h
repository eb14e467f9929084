// How SentencePiece normalises text before it is cut: characters are replaced by a map, white space
// becomes U+2581, one at a time.
//
// Source: Kudo, Richardson, "SentencePiece", 2018, 3.1. The map of a model is a double array as
// darts-clone stores it (32-bit units: label, leaf, offset), behind its size in 4 bytes, and behind
// it the replacements, each ended by a zero byte; the longest match is taken. What no entry matches
// stays; a byte that is no UTF-8 becomes U+FFFD.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/text/sentencepiece_model.h"

namespace stoker {

// Immutable and thread-safe.
class SentencePieceNormalizer {
 public:
  // Nothing if the model's map is damaged.
  static std::optional<SentencePieceNormalizer> Of(const SentencePieceModel& model);

  // `text`, normalised, in `out`.
  void Normalize(std::string_view text, std::string& out) const;

 private:
  SentencePieceNormalizer() = default;
  // What the begin of a text is replaced by, and how many bytes of it.
  struct Replaced {
    std::string_view by;
    size_t bytes;
  };
  Replaced Begin(std::string_view text) const;
  Replaced Search(std::string_view text) const;

  std::vector<uint32_t> units_;
  std::string replacements_;
  // ASCII characters in front of another ASCII character, of which no entry has two.
  std::array<bool, 128> itself_{};
  bool add_dummy_prefix_ = true, remove_extra_spaces_ = true;
};

}  // namespace stoker
