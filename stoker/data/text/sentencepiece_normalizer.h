// SentencePiece's normalisation of text before segmentation: a map replaces characters; white space
// becomes U+2581, collapsed to one.
//
// Source: Kudo, Richardson, "SentencePiece", 2018, 3.1. The map of a model is a double array as
// darts-clone stores it (32-bit units: label, leaf, offset), preceded by its size in 4 bytes and
// followed by the replacements, each ended by a zero byte; the longest match applies. Other
// characters stay; a byte that is not UTF-8 becomes U+FFFD.
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
  // Returns nothing if the model's map is damaged.
  static std::optional<SentencePieceNormalizer> Of(const SentencePieceModel& model);

  // Writes `text`, normalised, to `out`.
  void Normalize(std::string_view text, std::string& out) const;

 private:
  SentencePieceNormalizer() = default;
  // The replacement of a text's beginning, and the number of bytes replaced.
  struct Replaced {
    std::string_view by;
    size_t bytes;
  };
  Replaced Begin(std::string_view text) const;
  Replaced Search(std::string_view text) const;

  std::vector<uint32_t> units_;
  std::string replacements_;
  // ASCII characters that stay unchanged before another ASCII character, because no entry has two.
  std::array<bool, 128> itself_{};
  bool add_dummy_prefix_ = true, remove_extra_spaces_ = true;
};

}  // namespace stoker
