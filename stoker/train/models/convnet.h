#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// Parameters are named, and initialised, as in the torch.nn.Sequential of (Conv2d, BatchNorm2d,
// ReLU, MaxPool2d) for each block, Flatten, Linear, so weights can be exchanged. 17,018 parameters
// for 28 x 28 x 1 with the defaults.
struct Convnet {
  static constexpr std::string_view kName = "convnet";
  static constexpr std::string_view kHelp =
      "Blocks of 3x3 convolution, batch norm, ReLU and 2x2 max pool, then one linear layer.";
  int64_t classes = 10;
  std::vector<int64_t> channels = {16, 32, 32};

  static void Describe(OptionTable<Convnet>& table);
  Result<std::shared_ptr<Model>> Build(const ModelInput& input) const;
};

}  // namespace stoker
