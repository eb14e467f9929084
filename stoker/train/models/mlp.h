#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Parameters are named as in torch.nn.Sequential(Flatten(), Linear, BatchNorm1d, ReLU, Dropout,
// ..., Linear): the layers' numbers are their places in it, with places for each BatchNorm1d and
// Dropout only if there are such. A Linear that a BatchNorm1d follows has no bias. Rows of features
// with categories (data.features) become numbers first, with `features.*`
// (models/feature_inputs_internal.h).
struct Mlp {
  static constexpr std::string_view kName = "mlp";
  static constexpr std::string_view kHelp =
      "Linear layers with ReLU, or another function, between them, over all values of the input.";
  static constexpr bool kTakesFeatures = true;
  int64_t classes = 10;
  std::vector<int64_t> hidden = {128};
  double dropout = 0;
  std::string activation = "relu";
  bool batch_norm = false;

  static void Describe(OptionTable<Mlp>& table);
  Result<std::shared_ptr<Model>> Build(const ModelInput& input) const;
};

}  // namespace stoker
