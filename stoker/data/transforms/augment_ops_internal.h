// The changes that RandAugment and TrivialAugment choose from, with torchvision's tables of
// magnitudes (transforms.v2.RandAugment and TrivialAugmentWide).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "stoker/base/random.h"
#include "stoker/data/transforms/paired_fields_internal.h"

namespace stoker {

enum class AugmentOp : uint8_t {
  kIdentity,
  kShearX,
  kShearY,
  kTranslateX,
  kTranslateY,
  kRotate,
  kBrightness,
  kColor,  // saturation
  kContrast,
  kSharpness,
  kPosterize,
  kSolarize,
  kAutoContrast,
  kEqualize
};
inline constexpr int kNumAugmentOps = 14;

std::string_view AugmentOpName(AugmentOp op);

// The table of strengths.
enum class AugmentSpace : uint8_t {
  kRandAugment,         // Cubuk, Zoph, Shlens, Le, "RandAugment" (2020)
  kTrivialAugmentWide,  // Mueller, Hutter, "TrivialAugment" (2021), the wide space
};

// Returns the strength of an op at bin `bin` of `bins` (at least 2), without its sign: shear as its
// tangent, translation in pixels, rotation in degrees, factors as their distance from 1, posterize
// in bits, solarize as a share of 255; 0 for ops without a strength.
double AugmentMagnitude(AugmentSpace space, AugmentOp op, int64_t bin, int64_t bins,
                        const ImageShape& image);

// Returns true if the sign of the magnitude is drawn too.
bool IsSigned(AugmentOp op);

// One drawn change.
struct Augmentation {
  AugmentOp op = AugmentOp::kIdentity;
  double magnitude = 0;  // with its sign
};

// Draws a change, each op equally likely. Draws: the op; if `bin` is -1, the bin; the sign if there
// is one.
Augmentation DrawAugmentation(AugmentSpace space, int64_t bin, int64_t bins,
                              const ImageShape& image, Rng& rng);

// Applies the changes one after the other to an image uint8 [1 or 3, H, W], or, to a mask of any
// dtype, those that move pixels. Takes at most one array from `scratch`.
Result<Array> ApplyAugmentations(std::string_view who, const Array& array, const PairedField& field,
                                 const std::vector<Augmentation>& changes, bool bilinear,
                                 Scratch& scratch);

}  // namespace stoker
