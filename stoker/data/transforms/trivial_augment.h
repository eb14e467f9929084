#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Applies one change to images uint8 [1 or 3, H, W], drawn from the 14 of rand_augment, with a
// random strength; torchvision's TrivialAugmentWide (Mueller, Hutter, 2021). Masks follow the
// changes that move pixels. Draws: op, strength and, if the op has one, sign.
struct TrivialAugment {
  static constexpr std::string_view kName = "trivial_augment";
  static constexpr std::string_view kHelp = "Applies one change drawn from 14, of random strength.";
  static constexpr bool kArranges = false;
  int64_t bins = 31;
  std::string interpolation = "nearest";
  double fill = 0;
  double mask_fill = 0;
  std::string field = "image";
  std::vector<std::string> images;
  std::vector<std::string> masks;

  static void Describe(OptionTable<TrivialAugment>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
