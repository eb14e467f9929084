#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// All but the first `count` elements of each epoch. Maps straight before it are applied to those
// alone (rewrites/map_order.h).
struct Skip {
  static constexpr std::string_view kName = "skip";
  static constexpr std::string_view kHelp = "Leaves out the first elements of each epoch.";
  static constexpr bool kArranges = true;
  int64_t count = 0;

  static void Describe(OptionTable<Skip>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
