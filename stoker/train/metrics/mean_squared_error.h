#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// The mean squared difference of the scores from what they should be (WantedScores): the target's
// numbers, or 1 at its class and 0 elsewhere, or the class number itself where there is one score.
struct MeanSquaredError {
  static constexpr std::string_view kName = "mse";
  static constexpr std::string_view kHelp =
      "Mean squared difference from what the scores should be.";
  static constexpr Better kBetter = Better::kLower;
  static bool Measures(TargetKind kind);

  static void Describe(OptionTable<MeanSquaredError>&) {}
  Result<std::shared_ptr<Metric>> Build(TargetKind kind) const;
};

}  // namespace stoker
