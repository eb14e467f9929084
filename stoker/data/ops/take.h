#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Keeps the first `count` elements of each epoch, or all if there are fewer.
struct Take {
  static constexpr std::string_view kName = "take";
  static constexpr std::string_view kHelp = "Keeps the first elements of each epoch.";
  static constexpr bool kArranges = true;
  int64_t count = 0;

  static void Describe(OptionTable<Take>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
