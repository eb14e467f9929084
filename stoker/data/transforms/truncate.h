#pragma once

#include <string>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Keeps at most `length` parts of the first dimension of a field: the first ones, or with `keep:
// last` the last. Shorter fields do not change. Copies nothing: the result shares the memory.
struct Truncate {
  static constexpr std::string_view kName = "truncate";
  static constexpr std::string_view kHelp = "Cuts a field that is too long.";
  static constexpr bool kArranges = false;
  int64_t length = 0;
  std::string field = "tokens";
  std::string keep = "first";

  static void Describe(OptionTable<Truncate>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
