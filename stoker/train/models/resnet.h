// Residual networks as torchvision has them, "v1.5", whose bottlenecks halve the image in their
// 3 x 3 convolution. Parameters and buffers have torchvision's names and shapes, and from the same
// seed its first values.
//
// He et al., "Deep Residual Learning for Image Recognition", arXiv 1512.03385; the last norm of a
// block at zero: Goyal et al., "Accurate, Large Minibatch SGD", arXiv 1706.02677, 5.1.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "stoker/base/options.h"
#include "stoker/run/registry.h"

namespace stoker {

// 11,689,512 parameters for 3 channels and 1000 classes.
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

// 21,797,672 parameters for 3 channels and 1000 classes.
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

// 25,557,032 parameters for 3 channels and 1000 classes.
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
