#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// The negative log likelihood of counts by a Poisson distribution whose rate is exp(score), without
// the term that no score changes: the mean of exp(score) - target * score. Predictions and metrics
// are of the rate.
struct Poisson {
  static constexpr std::string_view kName = "poisson";
  static constexpr std::string_view kHelp =
      "The Poisson likelihood of counts; scores are logarithms of the rate.";

  static void Describe(OptionTable<Poisson>& table);
  Result<std::shared_ptr<const Loss>> Build() const;
};

}  // namespace stoker
