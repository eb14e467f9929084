#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Chen et al., "Symbolic discovery of optimization algorithms" (arXiv 2302.06675):
//   p -= lr (sign(b1 m + (1 - b1) g) + weight_decay p);  m = b2 m + (1 - b2) g
// Every weight changes by the same amount, so rates are 3 to 10 times lower than AdamW's, and the
// decay as many times higher. Takes half of AdamW's memory. If the schedule has a momentum, it is
// b1.
struct Lion {
  static constexpr std::string_view kName = "lion";
  static constexpr std::string_view kHelp = "The sign of the momentum: every weight moves as far.";
  std::vector<double> betas = {0.9, 0.99};
  double weight_decay = 0.1;

  static void Describe(OptionTable<Lion>& table);
  Result<std::unique_ptr<Optimizer>> Build(const TrainedParameters& parameters) const;
};

}  // namespace stoker
