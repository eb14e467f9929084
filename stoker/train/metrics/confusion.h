#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Row i, column j has how many samples of class i were taken for class j. Of shares, the class is
// that of the greatest.
struct Confusion {
  static constexpr std::string_view kName = "confusion";
  static constexpr std::string_view kHelp = "How many samples of each class were taken for each.";
  static constexpr Better kBetter = Better::kNeither;
  static bool Measures(TargetKind kind);

  static void Describe(OptionTable<Confusion>&) {}
  Result<std::shared_ptr<Metric>> Build(TargetKind kind) const;
};

}  // namespace stoker
