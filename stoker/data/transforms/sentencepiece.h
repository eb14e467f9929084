#pragma once

#include <filesystem>
#include <string>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Encodes text as the numbers of a SentencePiece model (Kudo, Richardson, "SentencePiece", 2018):
// the field, UTF-8 as uint8[?], becomes int32[?] called `output`. Uses the best segmentation;
// samples nothing. data/text/unigram_encoder.h runs unigram models, the library libsentencepiece
// BPE models and those with user-defined pieces; the numbers always equal the library's.
struct Sentencepiece {
  static constexpr std::string_view kName = "sentencepiece";
  static constexpr std::string_view kHelp = "Text as the numbers of a SentencePiece model.";
  static constexpr bool kArranges = false;
  std::filesystem::path model;
  std::string field = "text";
  std::string output = "tokens";
  bool begin = false;
  bool end = false;

  static void Describe(OptionTable<Sentencepiece>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
