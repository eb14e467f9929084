#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Over rows of features with categories (data.features) it has a weight for each category, from
// zero on (models/feature_inputs_internal.h).
struct Linear {
  static constexpr std::string_view kName = "linear";
  static constexpr std::string_view kHelp = "One linear layer over all values of the input.";
  static constexpr bool kTakesFeatures = true;
  int64_t classes = 10;

  static void Describe(OptionTable<Linear>& table);
  Result<std::shared_ptr<Model>> Build(const ModelInput& input) const;
};

}  // namespace stoker
