#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Surrounds images [C, H, W], any dtype, with a border of one value, or one that continues the
// image; torchvision's Pad.
struct Pad {
  static constexpr std::string_view kName = "pad";
  static constexpr std::string_view kHelp = "Surrounds images with a border.";
  static constexpr bool kArranges = false;
  std::vector<int64_t> padding;  // all sides; left and right, top and bottom; or left, top, right,
                                 // bottom
  double fill = 0;
  double mask_fill = 0;
  std::string padding_mode = "constant";
  std::string field = "image";
  std::vector<std::string> images;
  std::vector<std::string> masks;

  static void Describe(OptionTable<Pad>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
