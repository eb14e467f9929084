#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Mirrors a share of the images [C, H, W], any dtype, with their masks. One draw a sample.
struct RandomFlip {
  static constexpr std::string_view kName = "random_flip";
  static constexpr std::string_view kHelp =
      "Mirrors images at random, left to right or top to bottom.";
  static constexpr bool kArranges = false;
  double probability = 0.5;
  std::string direction = "horizontal";
  std::string field = "image";
  std::vector<std::string> images;
  std::vector<std::string> masks;

  static void Describe(OptionTable<RandomFlip>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
