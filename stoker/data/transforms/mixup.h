#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Mixes every sample of a batch with a partner from the same batch, and their labels with them:
// lambda * x_i + (1 - lambda) * x_j, with lambda drawn from Beta(alpha, alpha) and j given by a
// random permutation of the batch (Zhang, Cisse, Dauphin, Lopez-Paz, "mixup: beyond empirical risk
// minimization", ICLR 2018). Lambda is rounded to a multiple of 2^-16, so bytes are mixed exactly.
//
// Works on batches: `field` uint8 or float32 [samples, ...], `label` float32 [samples, classes];
// put `one_hot` and `batch` before it. One lambda a batch, or with per_sample one for each sample.
// Makes a new batch and frees the old one. Draws by seed, epoch and batch number.
struct Mixup {
  static constexpr std::string_view kName = "mixup";
  static constexpr std::string_view kHelp =
      "Mixes every sample of a batch, and its label, with another one of the batch.";
  static constexpr bool kArranges = false;
  double alpha = 0.2;
  bool per_sample = false;
  double probability = 1;
  std::string field = "image";
  std::string label = "label";

  static void Describe(OptionTable<Mixup>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
