#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Kingma and Ba, "Adam" (arXiv 1412.6980), as torch.optim.Adam: g' = g + weight_decay p; then as
// adamw without its decay. With a weight decay, adamw is nearly always the better one.
//
// With `lazy` the rows of embeddings that a step does not use keep weights and means; the others
// are updated as above, with t the number of all steps (as torch.optim.SparseAdam).
struct Adam {
  static constexpr std::string_view kName = "adam";
  static constexpr std::string_view kHelp = "Adam; its weight decay is part of the gradient.";
  std::vector<double> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  bool lazy = false;

  static void Describe(OptionTable<Adam>& table);
  Result<std::unique_ptr<Optimizer>> Build(const TrainedParameters& parameters) const;
};

}  // namespace stoker
