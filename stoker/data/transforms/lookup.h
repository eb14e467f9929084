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

// Maps words to class numbers: the field, text as uint8[?], becomes int64[], the place of its text
// in `values`, or in the lines of the file `vocabulary` (data/text/vocabulary.h; `stoker pack`
// writes names of classes as such a file). Ignores white space and NULs around a text, unless the
// list has them.
//
// A text that the list lacks becomes `unknown`; without that, it is an error that names the sample,
// the text and the nearest known text. Classes get the names of the list (class_names.h).
//
// With `reserve: n` the numbers begin at n, so that those below stand for something else, such as
// padding and unknown words; then classes get no names.
//
// In a recipe `values: auto` has the words learned from the training data (data/learn): the most
// frequent first, equally frequent ones by their bytes; at most `limit` of them, and those that are
// there `min_count` times or more. Pipelines built in C++ give words.
struct Lookup {
  static constexpr std::string_view kName = "lookup";
  static constexpr std::string_view kHelp =
      "Turns the words of a field into class numbers, by a list or a file of them.";
  static constexpr bool kArranges = false;
  static constexpr std::string_view kLearns[] = {"values"};
  std::vector<std::string> values;
  std::filesystem::path vocabulary;
  std::string field = "label";
  std::optional<int64_t> unknown;
  int64_t reserve = 0;
  std::optional<int64_t> limit;
  int64_t min_count = 1;

  static void Describe(OptionTable<Lookup>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
