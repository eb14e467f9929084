#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Overwrites a window of random area, shape and place in a share of the images [C, H, W], any
// dtype; torchvision's RandomErasing (Zhong et al., 2020). The window has one value, or one for
// each channel, or noise; put it after normalize to erase with the mean (0). Draws: whether, then
// those of DrawErasedWindow, then with noise one that keys a stream for each image. Masks do not
// change, so none are named.
struct RandomErasing {
  static constexpr std::string_view kName = "random_erasing";
  static constexpr std::string_view kHelp = "Overwrites a random window of images.";
  static constexpr bool kArranges = false;
  double probability = 0.5;
  std::vector<double> scale = {0.02, 0.33};
  std::vector<double> ratio = {0.3, 3.3};
  std::vector<double> value = {0};
  std::string noise = "none";
  std::string field = "image";
  std::vector<std::string> images;

  static void Describe(OptionTable<RandomErasing>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
