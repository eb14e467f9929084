#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// You et al., "Large batch optimization for deep learning" (arXiv 1904.00962):
//   m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2
//   u = (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps) + weight_decay p
//   p -= lr ratio u,  ratio = |p| / |u| of each parameter; 1 if either is 0
// A parameter without weight decay (train.decay_vectors, train.groups) has ratio 1. Published with
// clipping at a norm of 1 (train.clip). If the schedule has a momentum, it is b1. A step replaces
// the gradients by u.
struct Lamb {
  static constexpr std::string_view kName = "lamb";
  static constexpr std::string_view kHelp =
      "AdamW whose rate fits each parameter's norm, for large batches.";
  std::vector<double> betas = {0.9, 0.999};
  double eps = 1e-6;
  double weight_decay = 0.01;

  static void Describe(OptionTable<Lamb>& table);
  Result<std::unique_ptr<Optimizer>> Build(const TrainedParameters& parameters) const;
};

}  // namespace stoker
