#include "stoker/data/transforms/augment_ops_internal.h"

#include <array>
#include <cmath>
#include <cstring>

#include "stoker/data/transforms/color_fields_internal.h"
#include "stoker/data/transforms/warp_array_internal.h"
#include "stoker/image/blur.h"
#include "stoker/image/color.h"

namespace stoker {
namespace {

constexpr std::array<std::string_view, kNumAugmentOps> kNames = {
    "identity",  "shear_x",    "shear_y",       "translate_x", "translate_y",
    "rotate",    "brightness", "color",         "contrast",    "sharpness",
    "posterize", "solarize",   "auto_contrast", "equalize"};

// The magnitude of the last bin.
struct SpaceLimits {
  double shear, rotate, factor, posterized_bits;
};
constexpr SpaceLimits kLimits[] = {{0.3, 30, 0.9, 4}, {0.99, 135, 0.99, 6}};
// RandAugment translates by a share of the image, TrivialAugment by pixels.
constexpr double kTranslatedShare = 150.0 / 331.0, kTranslatedPixels = 32;

bool MovesPixels(AugmentOp op) { return op >= AugmentOp::kShearX && op <= AugmentOp::kRotate; }

// Shears by tangents, one of them 0; the upper left corner stays where it is.
AffineMatrix Shear(double along_x, double along_y, const ImageShape& image) {
  const double left = -static_cast<double>(image.width) / 2;
  const double top = -static_cast<double>(image.height) / 2;
  return {1, along_x, -along_x * top, along_y, 1, -along_y * left};
}

AffineMatrix MatrixOf(const Augmentation& change, const ImageShape& image) {
  const double magnitude = change.magnitude;
  switch (change.op) {
    case AugmentOp::kShearX: return Shear(magnitude, 0, image);
    case AugmentOp::kShearY: return Shear(0, magnitude, image);
    case AugmentOp::kTranslateX: return InverseMatrix({.translate_x = std::trunc(magnitude)});
    case AugmentOp::kTranslateY: return InverseMatrix({.translate_y = std::trunc(magnitude)});
    default: return RotationMatrix(magnitude);
  }
}

// What came before the change, where it cannot be done in place. Valid until the next call of this
// thread.
const Array& CopyBefore(const Array& array) {
  thread_local Array copy;
  if (copy.dtype() != array.dtype() || copy.shape() != array.shape())
    copy = Array::Allocate(array.dtype(), array.shape());
  if (array.num_bytes() > 0) std::memcpy(copy.data(), array.data(), array.num_bytes());
  return copy;
}

void ChangeColors(const Augmentation& change, Array& array) {
  const ImageShape shape = ImageShapeOf(array);
  const double factor = 1 + change.magnitude;
  uint8_t* values = array.values<uint8_t>().data();
  switch (change.op) {
    case AugmentOp::kBrightness:
      return AdjustBrightness(values, shape, static_cast<float>(factor), values);
    case AugmentOp::kColor: return AdjustSaturation(values, shape, factor, values);
    case AugmentOp::kContrast: return AdjustContrast(values, shape, factor, values);
    case AugmentOp::kSharpness:
      return AdjustSharpness(CopyBefore(array).values<uint8_t>().data(), shape, factor, values);
    case AugmentOp::kPosterize:
      return Posterize(values, shape, static_cast<int>(change.magnitude), values);
    case AugmentOp::kSolarize:
      return Solarize(values, shape, static_cast<float>(255 * change.magnitude), values);
    case AugmentOp::kAutoContrast: return AutoContrast(values, shape, values);
    case AugmentOp::kEqualize: return Equalize(values, shape, values);
    default: return;
  }
}

}  // namespace

std::string_view AugmentOpName(AugmentOp op) { return kNames[static_cast<size_t>(op)]; }

bool IsSigned(AugmentOp op) { return op >= AugmentOp::kShearX && op <= AugmentOp::kSharpness; }

double AugmentMagnitude(AugmentSpace space, AugmentOp op, int64_t bin, int64_t bins,
                        const ImageShape& image) {
  const SpaceLimits& limits = kLimits[static_cast<size_t>(space)];
  const bool wide = space == AugmentSpace::kTrivialAugmentWide;
  const double part = static_cast<double>(bin) / static_cast<double>(bins - 1);
  const auto translated = [&](int64_t side) {
    return part * (wide ? kTranslatedPixels : kTranslatedShare * static_cast<double>(side));
  };
  switch (op) {
    case AugmentOp::kShearX:
    case AugmentOp::kShearY: return part * limits.shear;
    case AugmentOp::kTranslateX: return translated(image.width);
    case AugmentOp::kTranslateY: return translated(image.height);
    case AugmentOp::kRotate: return part * limits.rotate;
    case AugmentOp::kBrightness:
    case AugmentOp::kColor:
    case AugmentOp::kContrast:
    case AugmentOp::kSharpness: return part * limits.factor;
    case AugmentOp::kPosterize: return std::nearbyint(8 - part * limits.posterized_bits);
    case AugmentOp::kSolarize: return 1 - part;
    default: return 0;
  }
}

Augmentation DrawAugmentation(AugmentSpace space, int64_t bin, int64_t bins,
                              const ImageShape& image, Rng& rng) {
  Augmentation drawn{.op = static_cast<AugmentOp>(rng.Below(kNumAugmentOps))};
  if (bin < 0) bin = static_cast<int64_t>(rng.Below(static_cast<uint64_t>(bins)));
  drawn.magnitude = AugmentMagnitude(space, drawn.op, bin, bins, image);
  if (IsSigned(drawn.op) && rng.Bernoulli(0.5)) drawn.magnitude = -drawn.magnitude;
  return drawn;
}

Result<Array> ApplyAugmentations(std::string_view who, const Array& array, const PairedField& field,
                                 const std::vector<Augmentation>& changes, bool bilinear,
                                 Scratch& scratch) {
  const ImageShape shape = ImageShapeOf(array);
  if (!field.is_mask) STOKER_RETURN_IF_ERROR(CheckColorChannels(who, shape));
  Array out = WritableImage(array, scratch);
  for (const Augmentation& change : changes) {
    if (MovesPixels(change.op)) {
      WarpArray(CopyBefore(out), field, MatrixOf(change, shape), bilinear, out);
    } else if (!field.is_mask) {
      ChangeColors(change, out);
    }
  }
  return out;
}

}  // namespace stoker
