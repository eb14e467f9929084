// The contents of a SentencePiece model file that are needed to run it.
//
// Source: sentencepiece_model.proto of the project SentencePiece, which defines the wire format.
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

// Errors: kDataLoss for a malformed message, with the byte; the caller adds the file.
Result<SentencePieceModel> ParseSentencePieceModel(std::string_view bytes);

}  // namespace stoker
