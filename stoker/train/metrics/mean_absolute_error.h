#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// The mean absolute difference of the scores from what they should be, as for mse.
struct MeanAbsoluteError {
  static constexpr std::string_view kName = "mae";
  static constexpr std::string_view kHelp =
      "Mean absolute difference from what the scores should be.";
  static constexpr Better kBetter = Better::kLower;
  static bool Measures(TargetKind kind);

  static void Describe(OptionTable<MeanAbsoluteError>&) {}
  Result<std::shared_ptr<Metric>> Build(TargetKind kind) const;
};

}  // namespace stoker
