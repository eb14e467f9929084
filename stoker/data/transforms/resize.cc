#include "stoker/data/transforms/resize.h"

#include <algorithm>

#include "stoker/data/nodes/map.h"
#include "stoker/data/transforms/extents_internal.h"
#include "stoker/data/transforms/resize_array_internal.h"

namespace stoker {
namespace {

struct Resizing {
  static constexpr std::string_view kName = Resize::kName;
  static constexpr bool kRandom = false;
  ResampleFilter filter = ResampleFilter::kBilinear;
  ResampleSize size;  // unless shorter_side says it
  int64_t shorter_side = 0;
  bool enlarge = true;

  struct Draw {
    CropWindow whole;
    ResampleSize size;
  };

  ResampleSize SizeOf(int64_t height, int64_t width) const {
    if (shorter_side == 0) return size;
    const int64_t shorter = std::max<int64_t>(1, std::min(height, width));
    if (!enlarge && shorter <= shorter_side) return {height, width};
    return {height * shorter_side / shorter, width * shorter_side / shorter};
  }

  Result<Draw> Choose(const ImageShape& shape, Rng& /*rng*/) const {
    return Draw{{.height = shape.height, .width = shape.width}, SizeOf(shape.height, shape.width)};
  }
  Result<Array> Change(const Array& array, const PairedField& field, const Draw& draw,
                       Scratch& scratch) const {
    return ResizeArray(kName, array, draw.whole, field.is_mask ? ResampleFilter::kNearest : filter,
                       draw.size, scratch);
  }
  bool AddTo(PicturePlan& plan, const PairedField& field, const Draw& draw) const {
    return plan.Resize(draw.whole, field.is_mask ? ResampleFilter::kNearest : filter, draw.size);
  }
};

Result<Resizing> PlanResizing(const Resize& options) {
  Resizing plan{.shorter_side = options.shorter_side, .enlarge = options.enlarge};
  STOKER_ASSIGN_OR_RETURN(plan.filter, ParseResampleFilter(options.interpolation));
  if (!options.enlarge && options.shorter_side == 0) {
    return InvalidArgument(
        "resize: enlarge: false goes with shorter_side, which may leave images of several sizes");
  }
  if (options.shorter_side == 0) {
    STOKER_ASSIGN_OR_RETURN(plan.size,
                            PlanSize(Resize::kName, options.size, options.height, options.width));
  } else if (options.size + options.height + options.width > 0) {
    return InvalidArgument(
        "resize: shorter_side is {}, size {}, height {} and width {}; give shorter_side, size, or "
        "height and width",
        options.shorter_side, options.size, options.height, options.width);
  } else {
    // The other side is no shorter.
    STOKER_RETURN_IF_ERROR(PlanSize(Resize::kName, options.shorter_side, 0, 0).status());
  }
  return plan;
}

}  // namespace

void Resize::Describe(OptionTable<Resize>& table) {
  table
      .Field("size", &Resize::size, "height and width in pixels; 0: by height and width",
             Between(0, kMaxPixels))
      .Field("height", &Resize::height, "height where it is not the width", Between(0, kMaxPixels))
      .Field("width", &Resize::width, "width where it is not the height", Between(0, kMaxPixels))
      .Field("shorter_side", &Resize::shorter_side,
             "length of the shorter side, the other in proportion; instead of size",
             Between(0, kMaxPixels))
      .Field("enlarge", &Resize::enlarge,
             "false: with shorter_side, smaller images keep their size");
  DescribeInterpolation(table);
  DescribePairedFields(table);
}

Result<Dataset> Resize::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const Resizing plan, PlanResizing(*this));
  const PairedNames names{field, images, masks};
  STOKER_ASSIGN_OR_RETURN(PairedFields fields, FindPairedFields(kName, input.spec(), names));
  STOKER_RETURN_IF_ERROR(CheckInterpolation(kName, input.spec(), fields, plan.filter));
  Spec output = input.spec();
  const Shape& shape = output.fields[fields.front().index].shape;
  const bool known = shape[1] != kUnknownDim && shape[2] != kUnknownDim;
  const ResampleSize result = known || plan.shorter_side == 0
                                  ? plan.SizeOf(shape[1], shape[2])
                                  : ResampleSize{kUnknownDim, kUnknownDim};
  SetSides(fields, result.height, result.width, output);
  const std::string to =
      plan.shorter_side == 0
          ? fmt::format("{} x {}", result.height, result.width)
          : fmt::format("shorter side {}{}", shorter_side, enlarge ? "" : " at most");
  return MapDataset(std::move(input), std::string(kName),
                    fmt::format("{}, to {}, {}", NamesInShort(names), to, interpolation),
                    std::move(output),
                    std::make_shared<PairedTransform<Resizing>>(std::move(fields), plan));
}

}  // namespace stoker
