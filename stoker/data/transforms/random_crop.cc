#include "stoker/data/transforms/random_crop.h"

#include <span>

#include "stoker/data/nodes/map.h"
#include "stoker/data/transforms/crop_array_internal.h"
#include "stoker/data/transforms/extents_internal.h"
#include "stoker/data/transforms/paired_fields_internal.h"

namespace stoker {
namespace {

struct CropPlan {
  PairedFields fields;
  int64_t height = 0;  // of the window; 0: the image's own
  int64_t width = 0;
  int64_t padding = 0;
  Border border = Border::kConstant;
};

class RandomCropTransform final : public Transform, public PictureGeometry {
 public:
  explicit RandomCropTransform(CropPlan plan) : plan_(std::move(plan)) {}

  Status Apply(Element& element, Rng& rng, Scratch& scratch) const override {
    STOKER_ASSIGN_OR_RETURN(const ImageShape shape, CheckedSize(element.key, element.arrays));
    const CropWindow window = DrawWindow(shape, rng);
    for (const PairedField& field : plan_.fields) {
      Array& image = element.arrays[field.index];
      image = CropArray(image, window, plan_.border, field.fill, scratch);
    }
    return OkStatus();
  }

  Status ApplyRows(Rows& rows, const RngFactory& rngs, Scratch& scratch) const override {
    STOKER_ASSIGN_OR_RETURN(const ImageShape shape, CheckedSize(rows.keys.front(), rows.columns));
    std::vector<CropWindow> windows;
    for (const SampleKey& key : rows.keys) {
      Rng rng = rngs.For(key);
      windows.push_back(DrawWindow(shape, rng));
    }
    for (const PairedField& field : plan_.fields)
      CropRows(windows, field, rows.columns[field.index], scratch);
    return OkStatus();
  }

  bool works_on_columns() const override { return true; }

  std::vector<size_t> picture_fields() const override { return NumbersOf(plan_.fields); }
  bool AddTo(std::span<PicturePlan* const> plans, Rng& rng) const override {
    const ImageShape shape{.height = plans.front()->height(), .width = plans.front()->width()};
    if (!Fits(shape) || !OfOneSize(plans)) return false;
    const CropWindow window = DrawWindow(shape, rng);
    for (size_t i = 0; i < plans.size(); ++i) {
      const PictureBorder border = BorderBeside(plan_.fields[i], plan_.border);
      if (!plans[i]->CropOrPad(window, border)) return false;
    }
    return true;
  }

 private:
  bool Fits(const ImageShape& shape) const {
    return HeightOf(shape) <= shape.height + 2 * plan_.padding &&
           WidthOf(shape) <= shape.width + 2 * plan_.padding;
  }

  int64_t HeightOf(const ImageShape& image) const {
    return plan_.height == 0 ? image.height : plan_.height;
  }
  int64_t WidthOf(const ImageShape& image) const {
    return plan_.width == 0 ? image.width : plan_.width;
  }

  // Where the shape was known beforehand this has been checked already.
  Result<ImageShape> CheckedSize(const SampleKey& key, const std::vector<Array>& arrays) const {
    STOKER_ASSIGN_OR_RETURN(const ImageShape shape,
                            SharedSize(RandomCrop::kName, key, arrays, plan_.fields));
    STOKER_RETURN_IF_ERROR(CheckBorder(RandomCrop::kName, plan_.border, shape));
    if (Fits(shape)) return shape;
    return InvalidArgument(
        "random_crop: element {}: a window of {} x {} does not fit into an image of {} x {} "
        "padded by {}; make the window smaller or the padding larger",
        key.index, HeightOf(shape), WidthOf(shape), shape.height, shape.width, plan_.padding);
  }

  CropWindow DrawWindow(const ImageShape& shape, Rng& rng) const {
    const int64_t height = HeightOf(shape), width = WidthOf(shape);
    const int64_t y = Draw(rng, shape.height, height);
    const int64_t x = Draw(rng, shape.width, width);
    return {.y = y, .x = x, .height = height, .width = width};
  }

  void CropRows(const std::vector<CropWindow>& windows, const PairedField& field, Array& images,
                Scratch& scratch) const {
    const ImageShape shape = ImageShapeOf(images);
    const ImageShape out_shape{shape.channels, HeightOf(shape), WidthOf(shape)};
    const size_t value_size = DTypeSize(images.dtype());
    const size_t in_bytes = static_cast<size_t>(shape.num_values()) * value_size;
    const size_t out_bytes = static_cast<size_t>(out_shape.num_values()) * value_size;
    Array out = scratch.NewArray(
        images.dtype(),
        {static_cast<int64_t>(windows.size()), shape.channels, out_shape.height, out_shape.width});
    for (size_t i = 0; i < windows.size(); ++i) {
      CropInto(images.data() + i * in_bytes, shape, value_size, windows[i], plan_.border,
               field.fill, out.data() + i * out_bytes);
    }
    images = std::move(out);
  }

  // Where the window begins along one side, in pixels of the image without its border.
  int64_t Draw(Rng& rng, int64_t image, int64_t window) const {
    const int64_t places = image + 2 * plan_.padding - window + 1;
    return static_cast<int64_t>(rng.Below(static_cast<uint64_t>(places))) - plan_.padding;
  }

  const CropPlan plan_;
};

// The window's extent along one side, checked against the image's where that is known.
Result<int64_t> PlanSide(const RandomCrop& options, std::string_view side, int64_t wanted,
                         int64_t image) {
  if (options.size > 0 && wanted > 0) {
    return InvalidArgument("random_crop: size is {} and {} is {}; give size, or height and width",
                           options.size, side, wanted);
  }
  const int64_t extent = wanted > 0 ? wanted : options.size;
  if (image != kUnknownDim && extent > image + 2 * options.padding) {
    return InvalidArgument(
        "random_crop: a window of {} {} is wanted, but field '{}' has {} {}, padded {}; make the "
        "window smaller or the padding at least {}",
        side, extent, options.field, side, image, image + 2 * options.padding,
        (extent - image + 1) / 2);
  }
  return extent;
}

Result<CropPlan> PlanCrop(const RandomCrop& options, const Spec& spec) {
  CropPlan plan{.padding = options.padding, .border = BorderOf(options.padding_mode)};
  const PairedNames names{options.field, options.images, options.masks};
  STOKER_ASSIGN_OR_RETURN(plan.fields, FindPairedFields(RandomCrop::kName, spec, names));
  const Shape& shape = spec.fields[plan.fields.front().index].shape;
  STOKER_ASSIGN_OR_RETURN(plan.height, PlanSide(options, "height", options.height, shape[1]));
  STOKER_ASSIGN_OR_RETURN(plan.width, PlanSide(options, "width", options.width, shape[2]));
  STOKER_RETURN_IF_ERROR(
      SetFillValues(RandomCrop::kName, spec, options.fill, options.mask_fill, plan.fields));
  return plan;
}

}  // namespace

void RandomCrop::Describe(OptionTable<RandomCrop>& table) {
  table
      .Field("size", &RandomCrop::size,
             "height and width of the window in pixels; 0: the image's own", Between(0, kMaxPixels))
      .Field("height", &RandomCrop::height, "height of a window that is not square; 0: by size",
             Between(0, kMaxPixels))
      .Field("width", &RandomCrop::width, "width of a window that is not square; 0: by size",
             Between(0, kMaxPixels))
      .Field("padding", &RandomCrop::padding, "pixels added on all four sides first",
             Between(0, kMaxPixels))
      .Field("fill", &RandomCrop::fill, "value of the added pixels")
      .Field("mask_fill", &RandomCrop::mask_fill, "the same of masks");
  DescribePaddingMode(table);
  DescribePairedFields(table);
}

Result<Dataset> RandomCrop::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(CropPlan plan, PlanCrop(*this, input.spec()));
  Spec output = input.spec();
  for (const PairedField& paired : plan.fields) {
    Shape& shape = output.fields[paired.index].shape;
    if (plan.height > 0) shape[1] = plan.height;
    if (plan.width > 0) shape[2] = plan.width;
  }
  const Shape& shape = output.fields[plan.fields.front().index].shape;
  const std::string window =
      plan.height > 0 || plan.width > 0 ? ShapeToString(std::span(shape).subspan(1)) : "own size";
  return MapDataset(
      std::move(input), std::string(kName),
      fmt::format("{}, {}, padding {}", NamesInShort({field, images, masks}), window, padding),
      std::move(output), std::make_shared<RandomCropTransform>(std::move(plan)));
}

}  // namespace stoker
