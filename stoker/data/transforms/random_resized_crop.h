#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Crops a window of random area, shape and place from images [C, H, W] and resizes it to a fixed
// size, antialiased; torchvision's RandomResizedCrop (Szegedy et al., "Going deeper with
// convolutions", 2015). uint8 or float32, with `interpolation: nearest` any dtype.
struct RandomResizedCrop {
  static constexpr std::string_view kName = "random_resized_crop";
  static constexpr std::string_view kHelp =
      "Cuts a window of random area and shape out of images and resizes it.";
  static constexpr bool kArranges = false;
  int64_t size = 0;
  int64_t height = 0;
  int64_t width = 0;
  std::vector<double> scale = {0.08, 1};
  std::vector<double> ratio = {3.0 / 4, 4.0 / 3};
  std::string interpolation = "bilinear";
  std::string field = "image";
  std::vector<std::string> images;
  std::vector<std::string> masks;

  static void Describe(OptionTable<RandomResizedCrop>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
