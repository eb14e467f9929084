#pragma once

#include "stoker/data/core/dataset.h"
#include "stoker/data/options/count_or_share.h"

namespace stoker {

// Drops the first `count` elements of each epoch, or the first share of them: `skip: 0.8`. Maps
// that directly precede it are not applied to them.
struct Skip {
  static constexpr std::string_view kName = "skip";
  static constexpr std::string_view kHelp = "Leaves out the first elements of each epoch.";
  static constexpr bool kArranges = true;
  CountOrShare count;

  static void Describe(OptionTable<Skip>& /*table*/) {}
  Result<Dataset> Build(Dataset input) const;
};
template <>
const std::vector<Option>& OptionsOf<Skip>();

}  // namespace stoker
