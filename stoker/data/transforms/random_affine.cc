#include "stoker/data/transforms/random_affine.h"

#include <cmath>

#include "stoker/data/map.h"
#include "stoker/data/transforms/draw_options_internal.h"
#include "stoker/data/transforms/warp_array_internal.h"

namespace stoker {
namespace {

constexpr double kMaxScale = 1000;
constexpr double kMaxShear = 89;  // degrees; at 90 nothing is left of the picture

struct Warping {
  static constexpr std::string_view kName = RandomAffine::kName;
  static constexpr bool kRandom = true;
  AffineRanges ranges;
  bool bilinear = false;

  Result<AffineMatrix> Choose(const ImageShape& image, Rng& rng) const {
    return InverseMatrix(DrawAffine(image.height, image.width, ranges, rng));
  }
  Result<Array> Change(const Array& array, const PairedField& field, const AffineMatrix& matrix,
                       Scratch& scratch) const {
    Array out = scratch.NewArray(array.dtype(), array.shape());
    WarpArray(array, field, matrix, bilinear, out);
    return out;
  }
};

Status PlanShear(const RandomAffine& options, AffineRanges& ranges) {
  const std::vector<double>& shear = options.shear;
  for (const double degrees : shear) {
    if (!(std::fabs(degrees) <= kMaxShear))
      return InvalidArgument("random_affine: shear is {} degrees; it must be within -{} and {}",
                             degrees, kMaxShear, kMaxShear);
  }
  if (shear.size() != 4) {
    STOKER_ASSIGN_OR_RETURN(ranges.shear_x,
                            PlanSymmetricRange(RandomAffine::kName, "shear", shear));
    return OkStatus();
  }
  STOKER_ASSIGN_OR_RETURN(ranges.shear_x,
                          PlanRange(RandomAffine::kName, "shear", {shear[0], shear[1]}));
  STOKER_ASSIGN_OR_RETURN(ranges.shear_y,
                          PlanRange(RandomAffine::kName, "shear", {shear[2], shear[3]}));
  return OkStatus();
}

Result<AffineRanges> PlanRanges(const RandomAffine& options) {
  AffineRanges ranges;
  STOKER_ASSIGN_OR_RETURN(ranges.degrees,
                          PlanSymmetricRange(RandomAffine::kName, "degrees", options.degrees));
  if (options.translate.size() != 2) {
    return InvalidArgument(
        "random_affine: translate has {} numbers; give two: shares of the width and of the height",
        options.translate.size());
  }
  ranges.translate_x = options.translate[0];
  ranges.translate_y = options.translate[1];
  STOKER_ASSIGN_OR_RETURN(ranges.scale, PlanRange(RandomAffine::kName, "scale", options.scale));
  STOKER_RETURN_IF_ERROR(PlanShear(options, ranges));
  return ranges;
}

}  // namespace

void RandomAffine::Describe(OptionTable<RandomAffine>& table) {
  table
      .Field("degrees", &RandomAffine::degrees,
             "turned clockwise: [least, most], or one number for both ways", Between(-3600, 3600))
      .Field("translate", &RandomAffine::translate,
             "moved at most by these shares of [width, height], in whole pixels", Between(0, 1))
      .Field("scale", &RandomAffine::scale, "[least, most] size of the result",
             OptionRange{.low = 0, .high = kMaxScale, .low_open = true})
      .Field("shear", &RandomAffine::shear,
             "degrees along x: [least, most], or one number for both ways; with four, along y too")
      .Field("interpolation", &RandomAffine::interpolation, "how pixels of images are weighed",
             OneOf{{"nearest", "bilinear"}})
      .Field("fill", &RandomAffine::fill, "value of pixels from outside the image")
      .Field("mask_fill", &RandomAffine::mask_fill, "the same of masks");
  DescribePairedFields(table);
}

Result<Dataset> RandomAffine::Build(Dataset input) const {
  Warping plan{.bilinear = interpolation == "bilinear"};
  STOKER_ASSIGN_OR_RETURN(plan.ranges, PlanRanges(*this));
  const PairedNames names{field, images, masks};
  STOKER_ASSIGN_OR_RETURN(PairedFields fields, FindPairedFields(kName, input.spec(), names));
  STOKER_RETURN_IF_ERROR(CheckWarp(kName, input.spec(), fields, plan.bilinear));
  STOKER_RETURN_IF_ERROR(SetFillValues(kName, input.spec(), fill, mask_fill, fields));
  Spec output = input.spec();
  return MapDataset(
      std::move(input), std::string(kName),
      fmt::format("{}, degrees {}, translate {}, scale {}, shear {}, {}", NamesInShort(names),
                  fmt::join(degrees, " "), fmt::join(translate, " "), fmt::join(scale, " "),
                  fmt::join(shear, " "), interpolation),
      std::move(output), std::make_shared<PairedTransform<Warping>>(std::move(fields), plan));
}

}  // namespace stoker
