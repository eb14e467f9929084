#pragma once

#include <string>
#include <vector>

#include "stoker/run/registry.h"

namespace stoker {

// Takes sequences of tokens, [samples, length] or ragged, of any lengths: each token becomes a
// vector, the vectors of a sample become one by their mean, their sum, that over the root of
// their number, or their greatest values, and layers as those of `mlp` follow. The order of the
// tokens does not matter, and padding counts nothing, wherever it stands; a sample without tokens
// is a vector of zeros. Parameters are named as in torch.nn.EmbeddingBag (`embedding.weight`) and
// the Linear layers 0, 1, ... (`layers.0.weight`).
//
// Source: Joulin et al., "Bag of Tricks for Efficient Text Classification", arXiv 1607.01759.
struct EmbeddingBag {
  static constexpr std::string_view kName = "embedding_bag";
  static constexpr std::string_view kHelp =
      "The mean of a vector for each token of a sequence, and linear layers with ReLU between "
      "them.";
  static constexpr bool kTakesTokens = true;
  int64_t classes = 10;
  int64_t tokens = 10000;
  int64_t width = 64;
  int64_t padding = 0;
  std::string combine = "mean";
  std::vector<int64_t> hidden;
  double dropout = 0;

  static void Describe(OptionTable<EmbeddingBag>& table);
  Result<std::shared_ptr<Model>> Build(const ModelInput& input) const;
};

}  // namespace stoker
