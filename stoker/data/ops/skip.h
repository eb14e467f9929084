#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Drops the first `count` elements of each epoch. Maps that directly precede it are not applied to
// them.
struct Skip {
  static constexpr std::string_view kName = "skip";
  static constexpr std::string_view kHelp = "Leaves out the first elements of each epoch.";
  static constexpr bool kArranges = true;
  int64_t count = 0;

  static void Describe(OptionTable<Skip>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
