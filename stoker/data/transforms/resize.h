#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Resizes images [C, H, W] to a fixed height and width, or so that the shorter side has a given
// length and the sides keep their ratio (the longer one rounded down, as torchvision's
// Resize(int)); without `enlarge` smaller images keep their size. Antialiased as Pillow's resize
// and torchvision's antialias=True (image/resample.h); uint8 or float32, with `interpolation:
// nearest` any dtype.
struct Resize {
  static constexpr std::string_view kName = "resize";
  static constexpr std::string_view kHelp = "Resizes images, antialiased.";
  static constexpr bool kArranges = false;
  int64_t size = 0;
  int64_t height = 0;
  int64_t width = 0;
  int64_t shorter_side = 0;
  bool enlarge = true;
  std::string interpolation = "bilinear";
  std::string field = "image";
  std::vector<std::string> images;
  std::vector<std::string> masks;

  static void Describe(OptionTable<Resize>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
