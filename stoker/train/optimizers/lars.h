#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// You, Gitman and Ginsburg, "Large batch training of convolutional networks" (arXiv 1708.03888):
//   ratio = trust |p| / (|g| + weight_decay |p| + 1e-8)   of each parameter; 1 where |p| or |g| is
//   0 v = momentum v + ratio (g + weight_decay p);  p -= lr v
// A parameter without weight decay (train.decay_vectors, train.groups) has ratio 1, as in sgd. Use
// it with rates far above sgd's, a warm-up and a polynomial or cosine schedule.
struct Lars {
  static constexpr std::string_view kName = "lars";
  static constexpr std::string_view kHelp =
      "SGD whose rate fits each parameter's norm, for large batches.";
  double momentum = 0.9;
  double weight_decay = 1e-4;
  double trust = 0.001;

  static void Describe(OptionTable<Lars>& table);
  Result<std::unique_ptr<Optimizer>> Build(const TrainedParameters& parameters) const;
};

}  // namespace stoker
