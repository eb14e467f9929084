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

// How strong the changes become.
enum class AugmentSpace : uint8_t {
  kRandAugment,         // Cubuk, Zoph, Shlens, Le, "RandAugment" (2020)
  kTrivialAugmentWide,  // Mueller, Hutter, "TrivialAugment" (2021), the wide space
};

// How much an op changes at bin `bin` of `bins` (at least 2), without its sign: shear as its
// tangent, translation in pixels, rotation in degrees, factors as their distance from 1, posterize
// in bits, solarize as a share of 255; 0 for ops without a strength.
double AugmentMagnitude(AugmentSpace space, AugmentOp op, int64_t bin, int64_t bins,
                        const ImageShape& image);

// True if the sign of the magnitude is drawn too.
bool IsSigned(AugmentOp op);

// One change, chosen.
struct Augmentation {
  AugmentOp op = AugmentOp::kIdentity;
  double magnitude = 0;  // with its sign
};

// Each op equally likely. Draws: the op; where `bin` is -1, the bin; the sign where there is one.
Augmentation DrawAugmentation(AugmentSpace space, int64_t bin, int64_t bins,
                              const ImageShape& image, Rng& rng);

// Applies the changes one after the other to an image uint8 [1 or 3, H, W], or, of them, those that
// move pixels to a mask of any dtype. Asks scratch for one array at most.
Result<Array> ApplyAugmentations(std::string_view who, const Array& array, const PairedField& field,
                                 const std::vector<Augmentation>& changes, bool bilinear,
                                 Scratch& scratch);

}  // namespace stoker
