#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Rotates, translates, scales and shears images [C, H, W] about their centre by random amounts;
// torchvision's RandomAffine, and with `degrees` alone its RandomRotation. The size stays, unless
// `expand` is set. uint8 or float32, with `interpolation: nearest` any dtype. Draws: degrees,
// right, down, scale, shear along x, shear along y, each even if it is fixed.
struct RandomAffine {
  static constexpr std::string_view kName = "random_affine";
  static constexpr std::string_view kHelp = "Turns, moves, scales and shears images at random.";
  static constexpr bool kArranges = false;
  std::vector<double> degrees = {0};
  std::vector<double> translate = {0, 0};
  std::vector<double> scale = {1, 1};
  std::vector<double> shear = {0};
  std::vector<double> center;
  bool expand = false;
  std::string interpolation = "nearest";
  std::vector<double> fill = {0};
  double mask_fill = 0;
  std::string field = "image";
  std::vector<std::string> images;
  std::vector<std::string> masks;

  static void Describe(OptionTable<RandomAffine>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
