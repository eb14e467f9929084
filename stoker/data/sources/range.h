#pragma once

#include <string>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Makes the integers start, start + step, ... up to and without stop, as elements {field: int64[]}.
// By position; stores nothing. For tests, for numbering elements with zip, and for pipelines whose
// map makes the element from its number.
struct Range {
  static constexpr std::string_view kName = "range";
  static constexpr std::string_view kHelp = "Integers from start up to, not including, stop.";
  int64_t stop = 0;
  int64_t start = 0;
  int64_t step = 1;
  std::string field = "index";

  static void Describe(OptionTable<Range>& table);
  Result<Dataset> Build() const;
};

}  // namespace stoker
