#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Of each class, the harmonic mean of its precision and its recall; means and labels as for
// precision.
struct F1 {
  static constexpr std::string_view kName = "f1";
  static constexpr std::string_view kHelp = "Harmonic mean of precision and recall.";
  static constexpr Better kBetter = Better::kHigher;
  static bool Measures(TargetKind kind);

  static void Describe(OptionTable<F1>&) {}
  Result<std::shared_ptr<Metric>> Build(TargetKind kind) const;
};

}  // namespace stoker
