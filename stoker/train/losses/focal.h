#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Lin et al., "Focal loss for dense object detection" (arXiv 1708.02002), of a softmax: the mean of
// -w_t (1 - p_t)^gamma log p_t over the samples, p_t the softmax at the target and w_t its class's
// weight (1 without weights). With gamma 0 and no weights it is cross_entropy.
struct Focal {
  static constexpr std::string_view kName = "focal";
  static constexpr std::string_view kHelp =
      "Cross-entropy in which samples that are right already count little.";
  double gamma = 2;
  std::vector<double> weights;

  static void Describe(OptionTable<Focal>& table);
  Result<std::shared_ptr<const Loss>> Build() const;
};

}  // namespace stoker
