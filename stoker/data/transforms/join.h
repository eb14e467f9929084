#pragma once

#include <string>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Joins fields into one, one after the other: numbers and lists of numbers become a list, as by
// numpy.concatenate or Spark's VectorAssembler; texts become a text, with `separator` between them.
//
//   - join: {fields: [carat, depth, table], to: x}        # x: float32[3]
//
// The new field stands where the first of them stood, and they are left out unless `keep` says
// otherwise; then it is the last. Its dtype is that of the fields, or of different ones the
// smallest that holds them: int64 of different integers, float64 if one of them is, else float32.
// Fields have at most one dimension; put join before `batch`. It joins fields of one sample;
// samples of several sources are put side by side by `zip`.
struct Join {
  static constexpr std::string_view kName = "join";
  static constexpr std::string_view kHelp =
      "Joins fields into one, one after the other: numbers into a list, texts into a text.";
  static constexpr bool kArranges = false;
  std::vector<std::string> fields;
  std::string to = "x";
  std::string dtype = "auto";
  std::string separator;
  bool keep = false;

  static void Describe(OptionTable<Join>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
