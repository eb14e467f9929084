#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Crops a window of fixed size from the middle of images [C, H, W], any dtype; torchvision's
// CenterCrop. A smaller image is surrounded by `fill`.
struct CenterCrop {
  static constexpr std::string_view kName = "center_crop";
  static constexpr std::string_view kHelp = "Cuts the middle out of images.";
  static constexpr bool kArranges = false;
  int64_t size = 0;
  int64_t height = 0;
  int64_t width = 0;
  double fill = 0;
  double mask_fill = 0;
  std::string field = "image";
  std::vector<std::string> images;
  std::vector<std::string> masks;

  static void Describe(OptionTable<CenterCrop>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
