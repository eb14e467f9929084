#pragma once

#include "stoker/data/core/dataset.h"
#include "stoker/data/options/count_or_share.h"

namespace stoker {

// Keeps the first `count` elements of each epoch, or all if there are fewer; or the first share of
// them: `take: 0.8`, whose rest is `skip: 0.8`.
struct Take {
  static constexpr std::string_view kName = "take";
  static constexpr std::string_view kHelp = "Keeps the first elements of each epoch.";
  static constexpr bool kArranges = true;
  CountOrShare count;

  static void Describe(OptionTable<Take>& /*table*/) {}
  Result<Dataset> Build(Dataset input) const;
};
template <>
const std::vector<Option>& OptionsOf<Take>();

}  // namespace stoker
