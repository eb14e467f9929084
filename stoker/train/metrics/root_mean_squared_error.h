#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// The square root of mse, over all samples and scores: in the units of the target.
struct RootMeanSquaredError {
  static constexpr std::string_view kName = "rmse";
  static constexpr std::string_view kHelp =
      "Root of the mean squared difference from what the scores should be.";
  static constexpr Better kBetter = Better::kLower;
  static bool Measures(TargetKind kind);

  static void Describe(OptionTable<RootMeanSquaredError>&) {}
  Result<std::shared_ptr<Metric>> Build(TargetKind kind) const;
};

}  // namespace stoker
