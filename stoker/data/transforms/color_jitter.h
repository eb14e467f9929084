#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Changes brightness, contrast, saturation and hue of images uint8 [1 or 3, H, W] at random, in
// random order; torchvision's ColorJitter. With `brightness: b` the factor is drawn evenly from
// max(0, 1 - b)..1 + b, likewise contrast and saturation; the hue is turned by -hue..hue of a full
// turn. Draws: whether, the order (3), then a factor for each of the four that is not 0, in that
// order.
struct ColorJitter {
  static constexpr std::string_view kName = "color_jitter";
  static constexpr std::string_view kHelp =
      "Changes brightness, contrast, saturation and hue of images at random.";
  static constexpr bool kArranges = false;
  double brightness = 0;
  double contrast = 0;
  double saturation = 0;
  double hue = 0;
  double probability = 1;
  std::string field = "image";
  std::vector<std::string> images;

  static void Describe(OptionTable<ColorJitter>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
