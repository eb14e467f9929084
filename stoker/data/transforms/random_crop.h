#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Surrounds each image [C, H, W] (any dtype) with a border of `padding` pixels (of value `fill`, or
// by `padding_mode`), and crops a window of fixed size at a random place, each place equally
// likely; torchvision's RandomCrop. Masks and other images of the same size are cropped alike. Two
// draws a sample: y, then x.
struct RandomCrop {
  static constexpr std::string_view kName = "random_crop";
  static constexpr std::string_view kHelp = "Pads images and cuts a window out at a random place.";
  static constexpr bool kArranges = false;
  int64_t size = 0;
  int64_t height = 0;
  int64_t width = 0;
  int64_t padding = 4;
  double fill = 0;
  double mask_fill = 0;
  std::string padding_mode = "constant";
  std::string field = "image";
  std::vector<std::string> images;
  std::vector<std::string> masks;

  static void Describe(OptionTable<RandomCrop>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
