#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Encodes text for BERT as the numbers of the pieces of a vocab.txt (data/text/wordpiece.h has the
// rules and their source; the package `tokenizers` gives the same numbers). The field, UTF-8 as
// uint8[?], becomes int32[?] called `output`.
//
// With `mark`, `[CLS] text [SEP]`, and with a second field named in `pair`, `[CLS] text [SEP] pair
// [SEP]`; a new field token_types, int32[?], is then 0 in the first part and 1 in the second.
// `max_length` counts the marks too: a longer result loses pieces at its end, the longer of two
// texts first.
//
// Cased models need `lower: false`. `accents: auto` strips them where it lowers.
struct Wordpiece {
  static constexpr std::string_view kName = "wordpiece";
  static constexpr std::string_view kHelp =
      "Text as the numbers of word pieces, with BERT's rules and a vocab.txt.";
  static constexpr bool kArranges = false;
  std::filesystem::path vocabulary;
  std::string field = "text";
  std::string pair;
  std::string output = "tokens";
  bool lower = true;
  std::string accents = "auto";
  bool mark = true;
  std::optional<int64_t> max_length;
  std::string unknown = "[UNK]";
  std::string begin = "[CLS]";
  std::string separator = "[SEP]";

  static void Describe(OptionTable<Wordpiece>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
