#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Jordan et al., "Muon: an optimizer for hidden layers in neural networks" (2024), as
// torch.optim.Muon, for parameters of two dimensions and more, as matrices with the first dimension
// as rows:
//   b = momentum b + (1 - momentum) g;  u = nesterov ? momentum b + (1 - momentum) g : b
//   o = u with all its singular values near 1, by five Newton-Schulz iterations
//   p -= lr weight_decay p;  p -= lr scale o
// scale is sqrt(max(1, rows / columns)) (`original`), or 0.2 sqrt(max(rows, columns)), with which
// the rates of adamw fit (`rms`; Liu et al., arXiv 2502.16982). adamw updates all other parameters,
// with the same rate and decay. The iterations are float on CPUs and bfloat16 elsewhere. If the
// schedule has a momentum, it is Muon's and not adamw's first beta.
struct Muon {
  static constexpr std::string_view kName = "muon";
  static constexpr std::string_view kHelp =
      "Momentum made orthogonal for matrices and filters, AdamW for the rest.";
  double momentum = 0.95;
  bool nesterov = true;
  double weight_decay = 0.1;
  std::string scale = "rms";
  std::vector<double> betas = {0.9, 0.999};
  double eps = 1e-8;

  static void Describe(OptionTable<Muon>& table);
  Result<std::unique_ptr<Optimizer>> Build(const TrainedParameters& parameters) const;
};

}  // namespace stoker
