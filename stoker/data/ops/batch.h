#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Stacks consecutive elements along a new first dimension: fields of shape [...] become [size,
// ...]. The last batch of an epoch has the remaining elements, unless drop_remainder. Shapes must
// be known and equal.
struct Batch {
  static constexpr std::string_view kName = "batch";
  static constexpr std::string_view kHelp =
      "Stacks consecutive elements along a new first dimension.";
  static constexpr bool kArranges = false;
  int64_t size = 32;
  bool drop_remainder = false;

  static void Describe(OptionTable<Batch>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
