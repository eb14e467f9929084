#pragma once

#include <span>
#include <vector>

#include "stoker/run/registry.h"

namespace stoker {

// The area under the receiver operating characteristic of each class against all others, by the
// softmax of the scores (the score itself where there is one), equal scores half right; and the
// mean over the classes that can have one. Of labels, that of each label by its score. Keeps all
// scores in CPU memory.
struct Auc {
  static constexpr std::string_view kName = "auc";
  static constexpr std::string_view kHelp =
      "Area under the receiver operating characteristic, of each class and in the mean.";
  static constexpr Better kBetter = Better::kHigher;
  static bool Measures(TargetKind kind);

  static void Describe(OptionTable<Auc>&) {}
  Result<std::shared_ptr<Metric>> Build(TargetKind kind) const;
};

// The probability that a positive has a higher score than a negative, equal scores counting half
// (Mann and Whitney's U by the number of pairs). NaN where there is no pair.
//   weights  what each counts, at least 0: a pair counts the product; empty: all the same
double AreaUnderRoc(std::span<const float> scores, const std::vector<bool>& positive,
                    std::span<const double> weights = {});

}  // namespace stoker
