#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// The coefficient of determination: 1 - sum (score - target)^2 / sum (target - mean target)^2 of
// each number (of several also in `r2_of_numbers`), and the mean over the numbers that vary. 1
// where all is right, 0 for always saying the mean.
struct R2 {
  static constexpr std::string_view kName = "r2";
  static constexpr std::string_view kHelp =
      "Share of the variance of the target that the scores explain.";
  static constexpr Better kBetter = Better::kHigher;
  static bool Measures(TargetKind kind);

  static void Describe(OptionTable<R2>&) {}
  Result<std::shared_ptr<Metric>> Build(TargetKind kind) const;
};

}  // namespace stoker
