#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Blurs images [C, H, W], uint8 or float32, with a Gaussian whose sigma is drawn evenly from a
// range; torchvision's GaussianBlur. Draws: whether, then sigma.
struct GaussianBlur {
  static constexpr std::string_view kName = "gaussian_blur";
  static constexpr std::string_view kHelp = "Blurs images, as much as a draw says.";
  static constexpr bool kArranges = false;
  std::vector<int64_t> kernel_size;
  std::vector<double> sigma = {0.1, 2};
  double probability = 1;
  std::string field = "image";
  std::vector<std::string> images;

  static void Describe(OptionTable<GaussianBlur>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
