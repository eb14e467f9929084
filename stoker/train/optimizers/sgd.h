#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// g' = g + weight_decay p;  v = momentum v + (1 - dampening) g' (v = g' at the first step);
// p -= lr (nesterov ? g' + momentum v : v).  The learning rate comes from the schedule, and so does
//                                            the momentum if the schedule has one. As
//                                            torch.optim.SGD.
struct Sgd {
  static constexpr std::string_view kName = "sgd";
  static constexpr std::string_view kHelp = "Stochastic gradient descent with momentum.";
  double momentum = 0.9;
  bool nesterov = false;
  double dampening = 0;
  double weight_decay = 0;

  static void Describe(OptionTable<Sgd>& table);
  Result<std::unique_ptr<Optimizer>> Build(const TrainedParameters& parameters) const;
};

}  // namespace stoker
