#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// The layout, the names and the first values of torchvision's inception_v3 with init_weights:
// 27,161,264 parameters for 3 channels and 1000 classes, 23,834,568 without the auxiliary head.
// Szegedy et al., "Rethinking the Inception Architecture for Computer Vision", arXiv 1512.00567.
struct InceptionV3 {
  static constexpr std::string_view kName = "inception_v3";
  static constexpr std::string_view kHelp =
      "Inception v3 with its auxiliary head, as torchvision has it; for images of 299 x 299.";
  int64_t classes = 1000;
  double aux_weight = 0.4;
  double dropout = 0.5;
  bool transform_input = false;

  static void Describe(OptionTable<InceptionV3>& table);
  Result<std::shared_ptr<Model>> Build(const ModelInput& input) const;
};

}  // namespace stoker
