#pragma once

#include "stoker/train/models/resnet_internal.h"

namespace stoker {

// The layout, the names and the first values of torchvision's resnet50: 25,557,032 parameters
// for 3 channels and 1000 classes.
struct Resnet50 {
  static constexpr std::string_view kName = "resnet50";
  static constexpr std::string_view kHelp =
      "Residual network of 50 layers with bottlenecks (v1.5), as torchvision has it.";
  int64_t classes = 1000;
  std::string stem = "imagenet";
  bool zero_init_residual = false;
  double dropout = 0;

  static void Describe(OptionTable<Resnet50>& table);
  Result<std::shared_ptr<Model>> Build(const ModelInput& input) const;
};

}  // namespace stoker
