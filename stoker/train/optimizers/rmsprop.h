#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Tieleman and Hinton's RMSprop (lecture 6.5 of "Neural networks for machine learning", 2012), as
// torch.optim.RMSprop: g' = g + weight_decay p;  v = alpha v + (1 - alpha) g'^2;  b = momentum b +
// g' / (sqrt(v) + eps);  p -= lr b. With a momentum, the schedule's applies.
struct Rmsprop {
  static constexpr std::string_view kName = "rmsprop";
  static constexpr std::string_view kHelp =
      "The gradient by the root of the running mean of its square.";
  double alpha = 0.99;
  double eps = 1e-8;
  double momentum = 0;
  double weight_decay = 0;

  static void Describe(OptionTable<Rmsprop>& table);
  Result<std::unique_ptr<Optimizer>> Build(const TrainedParameters& parameters) const;
};

}  // namespace stoker
