#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Loshchilov and Hutter, "Decoupled weight decay regularization" (arXiv 1711.05101), as
// torch.optim.AdamW: p -= lr weight_decay p; m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2; p -=
// lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps). The learning rate comes from the schedule,
// and so does b1 if the schedule has a momentum.
//
// With `lazy` the rows of embeddings that a step does not use keep weights and means; the others
// are updated as above, with t the number of all steps (as torch.optim.SparseAdam).
struct Adamw {
  static constexpr std::string_view kName = "adamw";
  static constexpr std::string_view kHelp = "Adam with decoupled weight decay.";
  std::vector<double> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0.01;
  bool lazy = false;

  static void Describe(OptionTable<Adamw>& table);
  Result<std::unique_ptr<Optimizer>> Build(const TrainedParameters& parameters) const;
};

}  // namespace stoker
