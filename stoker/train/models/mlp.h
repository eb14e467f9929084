#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Parameters are named as in torch.nn.Sequential(Flatten(), Linear, ReLU, Dropout, ..., Linear):
// the layers' numbers are their places in it, with a place for each Dropout only if dropout > 0.
// Rows of features with categories (data.features) become numbers first, with `features.*`
// (models/feature_inputs_internal.h).
struct Mlp {
  static constexpr std::string_view kName = "mlp";
  static constexpr std::string_view kHelp =
      "Linear layers with ReLU between them, over all values of the input.";
  static constexpr bool kTakesFeatures = true;
  int64_t classes = 10;
  std::vector<int64_t> hidden = {128};
  double dropout = 0;

  static void Describe(OptionTable<Mlp>& table);
  Result<std::shared_ptr<Model>> Build(const ModelInput& input) const;
};

}  // namespace stoker
