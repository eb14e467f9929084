#include "stoker/data/transforms/random_resized_crop.h"

#include "stoker/data/nodes/map.h"
#include "stoker/data/transforms/draw_options_internal.h"
#include "stoker/data/transforms/extents_internal.h"
#include "stoker/data/transforms/resize_array_internal.h"

namespace stoker {
namespace {

struct ResizedCropping {
  static constexpr std::string_view kName = RandomResizedCrop::kName;
  static constexpr bool kRandom = true;
  ResampleSize size;
  WindowRanges ranges;
  ResampleFilter filter = ResampleFilter::kBilinear;

  Result<CropWindow> Choose(const ImageShape& image, Rng& rng) const {
    if (image.height == 0 || image.width == 0) {
      return InvalidArgument("{}: an image of {} x {} pixels has no window", kName, image.height,
                             image.width);
    }
    return DrawResizedCrop(image.height, image.width, ranges.area, ranges.ratio, rng);
  }
  Result<Array> Change(const Array& array, const PairedField& field, const CropWindow& window,
                       Scratch& scratch) const {
    return ResizeArray(kName, array, window, field.is_mask ? ResampleFilter::kNearest : filter,
                       size, scratch);
  }
  bool AddTo(PicturePlan& plan, const PairedField& field, const CropWindow& window) const {
    return plan.Resize(window, field.is_mask ? ResampleFilter::kNearest : filter, size);
  }
};

}  // namespace

void RandomResizedCrop::Describe(OptionTable<RandomResizedCrop>& table) {
  table
      .Field("size", &RandomResizedCrop::size,
             "height and width of the result in pixels; 0: by height and width",
             Between(0, kMaxPixels))
      .Field("height", &RandomResizedCrop::height, "height where it is not the width",
             Between(0, kMaxPixels))
      .Field("width", &RandomResizedCrop::width, "width where it is not the height",
             Between(0, kMaxPixels))
      .Field("scale", &RandomResizedCrop::scale, "[least, most] share of the image's area",
             OptionRange{.low = 0, .high = 1, .low_open = true})
      .Field("ratio", &RandomResizedCrop::ratio, "[least, most] width by height of the window",
             OptionRange{.low = 0, .high = kMaxRatio, .low_open = true});
  DescribeInterpolation(table);
  DescribePairedFields(table);
}

Result<Dataset> RandomResizedCrop::Build(Dataset input) const {
  ResizedCropping plan;
  STOKER_ASSIGN_OR_RETURN(plan.size, PlanSize(kName, size, height, width));
  STOKER_ASSIGN_OR_RETURN(plan.ranges, PlanWindow(kName, scale, ratio));
  STOKER_ASSIGN_OR_RETURN(plan.filter, ParseResampleFilter(interpolation));
  const PairedNames names{field, images, masks};
  STOKER_ASSIGN_OR_RETURN(PairedFields fields, FindPairedFields(kName, input.spec(), names));
  STOKER_RETURN_IF_ERROR(CheckInterpolation(kName, input.spec(), fields, plan.filter));
  Spec output = input.spec();
  SetSides(fields, plan.size.height, plan.size.width, output);
  return MapDataset(std::move(input), std::string(kName),
                    fmt::format("{}, to {} x {}, scale {}, ratio {:.4g}, {}", NamesInShort(names),
                                plan.size.height, plan.size.width, fmt::join(scale, " "),
                                fmt::join(ratio, " "), interpolation),
                    std::move(output),
                    std::make_shared<PairedTransform<ResizedCropping>>(std::move(fields), plan));
}

}  // namespace stoker
