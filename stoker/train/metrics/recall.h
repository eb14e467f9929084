#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Of each class, the share of its samples that were taken for it, 0 where there is none; means and
// labels as for precision.
struct Recall {
  static constexpr std::string_view kName = "recall";
  static constexpr std::string_view kHelp = "Share of each class that was taken for it.";
  static constexpr Better kBetter = Better::kHigher;
  static bool Measures(TargetKind kind);

  static void Describe(OptionTable<Recall>&) {}
  Result<std::shared_ptr<Metric>> Build(TargetKind kind) const;
};

}  // namespace stoker
