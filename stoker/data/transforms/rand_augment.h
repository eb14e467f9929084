#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Applies `ops` changes to images uint8 [1 or 3, H, W], each drawn from 14 (shears, translations,
// rotation, brightness, colour, contrast, sharpness, posterize, solarize, auto contrast, equalize,
// none) with one strength for all; torchvision's RandAugment (Cubuk, Zoph, Shlens, Le, 2020). Masks
// follow the changes that move pixels. Draws: op and, where it has one, sign, for each change.
struct RandAugment {
  static constexpr std::string_view kName = "rand_augment";
  static constexpr std::string_view kHelp = "Applies a few changes drawn from 14, of one strength.";
  static constexpr bool kArranges = false;
  int64_t ops = 2;
  int64_t magnitude = 9;
  int64_t bins = 31;
  std::string interpolation = "nearest";
  double fill = 0;
  double mask_fill = 0;
  std::string field = "image";
  std::vector<std::string> images;
  std::vector<std::string> masks;

  static void Describe(OptionTable<RandAugment>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
