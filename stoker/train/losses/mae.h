#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// The mean of |score - target| over samples and scores: a regression towards the median, which
// outliers move less than that of mse.
struct Mae {
  static constexpr std::string_view kName = "mae";
  static constexpr std::string_view kHelp = "The mean absolute error.";

  static void Describe(OptionTable<Mae>& table);
  Result<std::shared_ptr<const Loss>> Build() const;
};

}  // namespace stoker
