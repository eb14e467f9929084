#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Pastes into every image of a batch a box from the same place of a partner from the same batch,
// and mixes their labels by area (Yun, Han, Oh, Chun, Choe, Yoo, "CutMix: regularization strategy
// to train strong classifiers with localizable features", ICCV 2019). Lambda is drawn from
// Beta(alpha, alpha), the box has sqrt(1 - lambda) of the height and the width (whole pixels,
// rounded down), its centre is anywhere in the image, and it is clipped at the edges; the labels'
// weights are the areas after clipping. Partners are a random permutation of the batch.
//
// Works on batches: `field` of any dtype [samples, channels, height, width], `label` float32
// [samples, classes]; put `one_hot` and `batch` before it. One lambda and box a batch, or with
// per_sample for each sample. Makes a new batch. Draws by seed, epoch and batch number.
struct Cutmix {
  static constexpr std::string_view kName = "cutmix";
  static constexpr std::string_view kHelp =
      "Pastes a box of another image of the batch into every image, and mixes the labels by area.";
  static constexpr bool kArranges = false;
  double alpha = 1;
  bool per_sample = false;
  double probability = 1;
  std::string field = "image";
  std::string label = "label";

  static void Describe(OptionTable<Cutmix>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
