// Regions as torchvision's RandomResizedCrop draws them. Only benchmarks include it.
#pragma once

#include <cmath>

#include "stoker/base/random.h"
#include "stoker/image/decode.h"

namespace stoker {

// Draws 0.08 to 1 of the area and a ratio of 3/4 to 4/3; returns the whole picture if ten draws do
// not fit.
inline ImageRegion DrawRandomCrop(Rng& rng, int64_t width, int64_t height) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double area = static_cast<double>(width * height) * (0.08 + 0.92 * rng.UniformDouble());
    const double ratio = std::exp(std::log(0.75) + rng.UniformDouble() * std::log(16.0 / 9));
    const int64_t w = std::llround(std::sqrt(area * ratio));
    const int64_t h = std::llround(std::sqrt(area / ratio));
    if (w > width || h > height) continue;
    return {static_cast<int64_t>(rng.Below(static_cast<uint64_t>(height - h + 1))),
            static_cast<int64_t>(rng.Below(static_cast<uint64_t>(width - w + 1))), h, w};
  }
  return {0, 0, height, width};
}

}  // namespace stoker
