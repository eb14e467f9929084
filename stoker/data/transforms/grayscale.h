#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Makes images uint8 [1 or 3, H, W] grey (0.2989 R + 0.587 G + 0.114 B), all of them or a share:
// torchvision's Grayscale and RandomGrayscale. Returns three equal channels, or one if all images
// are made grey and `channels` is 1. One draw a sample, unless all are.
struct Grayscale {
  static constexpr std::string_view kName = "grayscale";
  static constexpr std::string_view kHelp = "Makes images grey, all of them or a random share.";
  static constexpr bool kArranges = false;
  double probability = 1;
  int64_t channels = 3;
  std::string field = "image";
  std::vector<std::string> images;

  static void Describe(OptionTable<Grayscale>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
