#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Duchi, Hazan and Singer, "Adaptive subgradient methods" (JMLR 12, 2011), as torch.optim.Adagrad:
// g' = g + weight_decay p;  s += g'^2;  p -= lr / (1 + (t - 1) lr_decay) g' / (sqrt(s) + eps).
struct Adagrad {
  static constexpr std::string_view kName = "adagrad";
  static constexpr std::string_view kHelp =
      "The gradient by the root of the sum of all its squares so far.";
  double eps = 1e-10;
  double lr_decay = 0;
  double weight_decay = 0;

  static void Describe(OptionTable<Adagrad>& table);
  Result<std::unique_ptr<Optimizer>> Build(const TrainedParameters& parameters) const;
};

}  // namespace stoker
