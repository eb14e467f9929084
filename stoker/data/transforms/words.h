#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Splits text into words and encodes them by a vocabulary: the field, UTF-8 as uint8[?], becomes
// int32[?] called `output`. Words are separated by white space, or match `pattern`, or are
// separated by matches of `separator` (data/text/word_splitter.h).
//
// The vocabulary is a file of one token a line (data/text/vocabulary.h; `stoker vocabulary` makes
// one of the most frequent words), or the list `values`, before which come those of `unknown`,
// `begin` and `end` that it lacks. A word that it lacks becomes `unknown`; if that is empty, such a
// word is an error that names it and the element. `begin` and `end`, if set, enclose the words.
// With `reserve: n` the numbers begin at n, so that those below are free, such as 0 for padding,
// and `unknown_number` may be one of them for words that the vocabulary lacks.
//
// Without a list, `hash: n` gives each word its hash modulo n, as the operator `hash` does, and
// `reserve` is added.
//
// In a recipe `values: auto` has the words learned from the training data (data/learn): the most
// frequent first, equally frequent ones by their bytes; at most `limit` of them, and those that are
// there `min_count` times or more.
struct Words {
  static constexpr std::string_view kName = "words";
  static constexpr std::string_view kHelp =
      "Splits text into words and looks them up in a vocabulary.";
  static constexpr bool kArranges = false;
  static constexpr std::string_view kLearns[] = {"values"};
  std::filesystem::path vocabulary;
  std::vector<std::string> values;
  std::string field = "text";
  std::string output = "tokens";
  std::string pattern;
  std::string separator;
  bool lower = false;
  bool trim = false;
  std::optional<int64_t> hash;
  std::string unknown;
  std::optional<int64_t> unknown_number;
  std::string begin;
  std::string end;
  int64_t reserve = 0;
  std::optional<int64_t> limit;
  int64_t min_count = 1;

  static void Describe(OptionTable<Words>& table);
  // Checks that the options of how words are numbered go together: kInvalidArgument.
  Status CheckNumbering() const;
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
