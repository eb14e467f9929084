#pragma once

#include <filesystem>
#include <string>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Splits text into words and encodes them by a vocabulary: the field, UTF-8 as uint8[?], becomes
// int32[?] called `output`. Words are separated by white space, or match `pattern`, or are
// separated by matches of `separator` (data/text/word_splitter.h).
//
// The vocabulary is a file of one token a line (data/text/vocabulary.h; `stoker vocabulary` makes
// one of the most frequent words). A word that it lacks becomes `unknown`; if that is empty, such a
// word is an error that names it and the element. `begin` and `end`, if set, enclose the words.
struct Words {
  static constexpr std::string_view kName = "words";
  static constexpr std::string_view kHelp =
      "Splits text into words and looks them up in a vocabulary.";
  static constexpr bool kArranges = false;
  std::filesystem::path vocabulary;
  std::string field = "text";
  std::string output = "tokens";
  std::string pattern;
  std::string separator;
  bool lower = false;
  std::string unknown;
  std::string begin;
  std::string end;

  static void Describe(OptionTable<Words>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
