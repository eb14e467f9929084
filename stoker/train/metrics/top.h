#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// The share of samples with the target among the k highest scores. `topK`, such as top5, is a name
// for it. Of shares, the target is the class of the greatest.
struct Top {
  static constexpr std::string_view kName = "top";
  static constexpr std::string_view kHelp =
      "Share of samples with the target among the highest scores; top5 for {top: {k: 5}}.";
  static constexpr Better kBetter = Better::kHigher;
  static bool Measures(TargetKind kind);
  int64_t k = 5;

  static void Describe(OptionTable<Top>& table);
  Result<std::shared_ptr<Metric>> Build(TargetKind kind) const;
};

}  // namespace stoker
