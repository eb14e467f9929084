#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Of each class, the share of the samples taken for it that are it, 0 where none was; and the mean
// over the classes that there are samples of or predictions for. Of labels, those of each label, by
// whether it holds and whether it is said to (Answers).
struct PrecisionMetric {
  static constexpr std::string_view kName = "precision";
  static constexpr std::string_view kHelp = "Share of what was taken for a class that is it.";
  static constexpr Better kBetter = Better::kHigher;
  static bool Measures(TargetKind kind);

  static void Describe(OptionTable<PrecisionMetric>&) {}
  Result<std::shared_ptr<Metric>> Build(TargetKind kind) const;
};

}  // namespace stoker
