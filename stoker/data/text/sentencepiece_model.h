// The contents of a SentencePiece model file, as far as running it needs them.
//
// Source: sentencepiece_model.proto of the project SentencePiece, whose wire format this is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

enum class SentencePieceType : uint8_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6,
};

enum class SentencePieceAlgorithm : uint8_t { kUnigram = 1, kBpe = 2, kWord = 3, kChar = 4 };

struct SentencePieceModel {
  struct Piece {
    std::string text;
    float score = 0;
    SentencePieceType type = SentencePieceType::kNormal;
  };
  std::vector<Piece> pieces;
  SentencePieceAlgorithm algorithm = SentencePieceAlgorithm::kUnigram;
  bool space_as_suffix = false;
  bool byte_fallback = false;
  // How text is normalised first.
  std::string character_map;  // see SentencePieceNormalizer
  bool add_dummy_prefix = true;
  bool remove_extra_spaces = true;
  bool escape_spaces = true;
};

// Errors: kDataLoss for what is no such message, with the byte; the caller knows which file it is.
Result<SentencePieceModel> ParseSentencePieceModel(std::string_view bytes);

}  // namespace stoker
