#pragma once

#include <span>
#include <vector>

#include "stoker/run/registry.h"

namespace stoker {

// The average precision of each class against all others, by the scores that auc takes: the sum
// over thresholds, from the highest score down, of precision times what recall gains there (equal
// scores are one threshold), which is the area under the curve of precision and recall without
// interpolation; and the mean over the classes that occur. Of labels, that of each label. Keeps all
// scores in CPU memory.
struct PrAuc {
  static constexpr std::string_view kName = "pr_auc";
  static constexpr std::string_view kHelp =
      "Average precision: the area under precision and recall, of each class and in the mean.";
  static constexpr Better kBetter = Better::kHigher;
  static bool Measures(TargetKind kind);

  static void Describe(OptionTable<PrAuc>&) {}
  Result<std::shared_ptr<Metric>> Build(TargetKind kind) const;
};

// The average precision of these scores. NaN where nothing is positive, and where a score is NaN.
//   weights  what each counts, at least 0; empty: all the same
double AveragePrecision(std::span<const float> scores, const std::vector<bool>& positive,
                        std::span<const double> weights = {});

}  // namespace stoker
