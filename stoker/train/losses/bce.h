#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Binary cross-entropy of the sigmoid of each score against whether it is the target's, smoothed: q
// = (1 - e) onehot(target) + e / classes; the mean over samples and classes of -(w q log s + (1 -
// q) log(1 - s)), s = sigmoid(score), w = positive_weight. Every class is an independent question,
// which helps if pictures show several (Wightman et al., arXiv 2110.00476). A model of one score
// distinguishes classes 0 and 1; the score is that of class 1.
//
// Or against numbers from 0 to 1, one for each score: several labels a sample (multi-label), or the
// shares that mixup makes. Each is then smoothed towards one half: q = (1 - e) t + e / 2.
struct Bce {
  static constexpr std::string_view kName = "bce";
  static constexpr std::string_view kHelp =
      "Binary cross-entropy: each class or label, yes or no, for itself.";
  double label_smoothing = 0;
  double positive_weight = 1;

  static void Describe(OptionTable<Bce>& table);
  Result<std::shared_ptr<const Loss>> Build() const;
};

}  // namespace stoker
