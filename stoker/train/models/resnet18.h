#pragma once

#include "stoker/train/models/resnet_internal.h"

namespace stoker {

// The layout, the names and the first values of torchvision's resnet18: 11,689,512 parameters
// for 3 channels and 1000 classes.
struct Resnet18 {
  static constexpr std::string_view kName = "resnet18";
  static constexpr std::string_view kHelp = "Residual network of 18 layers, as torchvision has it.";
  int64_t classes = 1000;
  std::string stem = "imagenet";
  bool zero_init_residual = false;
  double dropout = 0;

  static void Describe(OptionTable<Resnet18>& table);
  Result<std::shared_ptr<Model>> Build(const ModelInput& input) const;
};

}  // namespace stoker
