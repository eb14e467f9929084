#pragma once

#include <string>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Keeps the first of the elements that have the same values in the fields `by`, or in all fields;
// pandas' drop_duplicates. Numbers are compared as values, whatever their dtype, texts byte by
// byte; by 128 bits of hashes, which differ for different values but once in 10^20 for a billion
// elements.
//
// By position, and their number is known: every element of the input is made once when the pipeline
// is built, so put unique directly after the source. The input must be read by position, in the
// same order in every pass. The table takes about 2 bits an element, within the budget, and while
// it is made 50 bytes for each different element, outside it.
struct Unique {
  static constexpr std::string_view kName = "unique";
  static constexpr std::string_view kHelp =
      "Keeps the first of the elements that have the same values in some fields, or in all.";
  static constexpr bool kArranges = true;
  std::vector<std::string> by;

  static void Describe(OptionTable<Unique>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
