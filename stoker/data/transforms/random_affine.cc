#include "stoker/data/transforms/random_affine.h"

#include <cmath>

#include "stoker/data/nodes/map.h"
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
  std::vector<double> center;  // x and y in pixels; empty: the middle
  bool expand = false;
  bool bilinear = false;
  std::vector<std::vector<FillValue>> fills;  // by field; of images one, or one for each channel

  struct Draw {
    AffineMatrix matrix;
    WarpSize size;
  };

  Result<Draw> Choose(const ImageShape& image, Rng& rng) const {
    AffineChange change = DrawAffine(image.height, image.width, ranges, rng);
    if (!center.empty()) {
      change.center_x = center[0] - static_cast<double>(image.width) / 2;
      change.center_y = center[1] - static_cast<double>(image.height) / 2;
    }
    const AffineMatrix matrix = InverseMatrix(change);
    if (expand) return Draw{matrix, WholeSize(matrix, image.height, image.width)};
    return Draw{matrix, {image.height, image.width}};
  }
  Result<Array> Change(const Array& array, const PairedField& field, const Draw& draw,
                       Scratch& scratch) const {
    const int64_t channels = array.shape().front();
    const std::vector<FillValue>& fill = fills[field.index];
    if (fill.size() > 1 && std::ssize(fill) != channels) {
      return InvalidArgument("{}: fill has {} numbers, an image {} channels; give one for each",
                             kName, fill.size(), channels);
    }
    Array out = scratch.NewArray(array.dtype(), {channels, draw.size.height, draw.size.width});
    WarpArray(array, field, draw.matrix, bilinear, out, fill);
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

Status CheckCenter(const RandomAffine& options) {
  if (!options.center.empty() && options.center.size() != 2) {
    return InvalidArgument(
        "random_affine: center has {} numbers; give two, x and y in pixels from the upper left, or "
        "none for the middle",
        options.center.size());
  }
  const RandomAffine turn{.degrees = options.degrees};
  const bool only_turns = options.center.empty() && options.translate == turn.translate &&
                          options.scale == turn.scale && options.shear == turn.shear;
  if (!options.expand || only_turns) return OkStatus();
  return InvalidArgument(
      "random_affine: expand makes room for what is turned about the middle; leave out translate, "
      "scale, shear and center, or expand");
}

// What pixels from outside get, by field.
Result<std::vector<std::vector<FillValue>>> PlanFills(const RandomAffine& options, const Spec& spec,
                                                      const PairedFields& fields) {
  std::vector<std::vector<FillValue>> fills(spec.fields.size());
  for (const PairedField& paired : fields) {
    const Field& field = spec.fields[paired.index];
    const std::vector<double> values =
        paired.is_mask ? std::vector<double>{options.mask_fill} : options.fill;
    const int64_t channels = field.shape[0];
    const auto n = std::ssize(values);
    if (n == 0 || (n > 1 && channels != kUnknownDim && channels != n)) {
      return InvalidArgument(
          "random_affine: fill has {} numbers, but field '{}' has shape {}; give one, or one for "
          "each channel",
          n, field.name, ShapeToString(field.shape));
    }
    for (const double value : values) {
      STOKER_ASSIGN_OR_RETURN(
          const FillValue fill,
          MakeFillValue(RandomAffine::kName, paired.is_mask ? "mask_fill" : "fill", value, field));
      fills[paired.index].push_back(fill);
    }
  }
  return fills;
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
      .Field("center", &RandomAffine::center,
             "what stays in place when turned: [x, y] in pixels from the upper left; empty: the "
             "middle")
      .Field("expand", &RandomAffine::expand,
             "make the result as large as what is turned needs, so that sizes differ")
      .Field("interpolation", &RandomAffine::interpolation, "how pixels of images are weighed",
             OneOf{{"nearest", "bilinear"}})
      .Field("fill", &RandomAffine::fill,
             "value of pixels from outside the image: one, or one for each channel")
      .Field("mask_fill", &RandomAffine::mask_fill, "the same of masks");
  DescribePairedFields(table);
}

Result<Dataset> RandomAffine::Build(Dataset input) const {
  Warping plan{.center = center, .expand = expand, .bilinear = interpolation == "bilinear"};
  STOKER_RETURN_IF_ERROR(CheckCenter(*this));
  STOKER_ASSIGN_OR_RETURN(plan.ranges, PlanRanges(*this));
  const PairedNames names{field, images, masks};
  STOKER_ASSIGN_OR_RETURN(PairedFields fields, FindPairedFields(kName, input.spec(), names));
  STOKER_RETURN_IF_ERROR(CheckWarp(kName, input.spec(), fields, plan.bilinear));
  STOKER_ASSIGN_OR_RETURN(plan.fills, PlanFills(*this, input.spec(), fields));
  Spec output = input.spec();
  if (expand) SetSides(fields, kUnknownDim, kUnknownDim, output);
  return MapDataset(
      std::move(input), std::string(kName),
      fmt::format("{}, degrees {}, translate {}, scale {}, shear {}, {}", NamesInShort(names),
                  fmt::join(degrees, " "), fmt::join(translate, " "), fmt::join(scale, " "),
                  fmt::join(shear, " "), interpolation),
      std::move(output),
      std::make_shared<PairedTransform<Warping>>(std::move(fields), std::move(plan)));
}

}  // namespace stoker
