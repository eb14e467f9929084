#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// -sum_k q_k log softmax(scores)_k with q = (1 - e) onehot(target) + e / classes, e = smoothing
// (Szegedy et al., arXiv 1512.00567). With weights w, as torch's CrossEntropyLoss: term k is
// multiplied by w_k, and the mean is the sum over the samples divided by the sum of their w_target.
//
// A target of shares of classes (one_hot, mixup, cutmix) replaces onehot(target), and with weights
// the sum over the samples is divided by their number, as in torch.
struct CrossEntropy {
  static constexpr std::string_view kName = "cross_entropy";
  static constexpr std::string_view kHelp = "Cross-entropy of the softmax of the scores.";
  double label_smoothing = 0;
  std::vector<double> weights;

  static void Describe(OptionTable<CrossEntropy>& table);
  Result<std::shared_ptr<const Loss>> Build() const;
};

}  // namespace stoker
