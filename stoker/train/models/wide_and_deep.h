#pragma once

#include <vector>

#include "stoker/run/registry.h"

namespace stoker {

// Takes rows of features (data.features, docs/features.md): the sum of what a linear layer over
// them says (wide), which has a weight for each category and crossed one, and of what several
// layers say (deep), which generalise from numbers and the vectors of categories. `part` of a
// feature says which of the two get it; a crossed one without an embedding is for the first.
// Parameters: `wide.*` and `deep.embeddings.NAME.weight`
// (models/feature_inputs_internal.h), and the Linear layers 0, 1, ... (`layers.0.weight`), of which
// with batch_norm each but the last is followed by its BatchNorm1d in the same numbering.
//
// Source: Cheng et al., "Wide & Deep Learning for Recommender Systems", arXiv 1606.07792.
struct WideAndDeep {
  static constexpr std::string_view kName = "wide_and_deep";
  static constexpr std::string_view kHelp =
      "A linear layer over features beside several layers with ReLU, or another function, and the "
      "sum of both.";
  static constexpr bool kTakesFeatures = true;
  int64_t classes = 10;
  std::vector<int64_t> hidden = {64, 32};
  double dropout = 0;
  std::string activation = "relu";
  bool batch_norm = false;

  static void Describe(OptionTable<WideAndDeep>& table);
  Result<std::shared_ptr<Model>> Build(const ModelInput& input) const;
};

}  // namespace stoker
