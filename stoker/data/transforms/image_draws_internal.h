// The random choices of image transforms, as pure functions of a sample's random stream: the
// distributions of torchvision's transforms of the same names. Sides are 1 to 2^24 pixels. The same
// values on every CPU.
#pragma once

#include <optional>

#include "stoker/base/random.h"
#include "stoker/image/affine.h"
#include "stoker/image/crop.h"

namespace stoker {

struct DrawRange {
  double low = 0;
  double high = 0;

  // Draws a value, each equally likely. Takes one UniformDouble, even if there is only one value.
  double Draw(Rng& rng) const { return low + (high - low) * rng.UniformDouble(); }
  // The same for the logarithm of positive numbers.
  double DrawLogarithmic(Rng& rng) const;
};

// Draws the window of random_resized_crop: a share of the image's area, uniform in `area`; width by
// height, uniform in its logarithm in `ratio`; each place equally likely. After ten windows that do
// not fit, returns the largest one in the middle with a ratio in the range. Draws: area, ratio and,
// if they fit, y, x.
CropWindow DrawResizedCrop(int64_t height, int64_t width, const DrawRange& area,
                           const DrawRange& ratio, Rng& rng);

// Draws the window of random_erasing (Zhong, Zheng, Kang, Li, Yang, "Random erasing data
// augmentation", 2020): as above, but the ratio is height by width and the window is smaller than
// the image on both sides; returns nothing after ten windows that are not.
std::optional<CropWindow> DrawErasedWindow(int64_t height, int64_t width, const DrawRange& area,
                                           const DrawRange& ratio, Rng& rng);

// The ranges of random_affine, in degrees, and in shares of the image's sides.
struct AffineRanges {
  DrawRange degrees;
  double translate_x = 0;
  double translate_y = 0;
  DrawRange scale{1, 1};
  DrawRange shear_x;
  DrawRange shear_y;
};
// Translations are whole pixels. Draws: degrees, x, y, scale, shear x, shear y.
AffineChange DrawAffine(int64_t height, int64_t width, const AffineRanges& ranges, Rng& rng);

}  // namespace stoker
