#pragma once

#include "stoker/train/models/resnet_internal.h"

namespace stoker {

// The layout, the names and the first values of torchvision's resnet34: 21,797,672 parameters
// for 3 channels and 1000 classes.
struct Resnet34 {
  static constexpr std::string_view kName = "resnet34";
  static constexpr std::string_view kHelp = "Residual network of 34 layers, as torchvision has it.";
  int64_t classes = 1000;
  std::string stem = "imagenet";
  bool zero_init_residual = false;
  double dropout = 0;

  static void Describe(OptionTable<Resnet34>& table);
  Result<std::shared_ptr<Model>> Build(const ModelInput& input) const;
};

}  // namespace stoker
