#include "stoker/data/transforms/random_crop.h"

#include <span>

#include "stoker/data/fill_value.h"
#include "stoker/data/map.h"
#include "stoker/data/transforms/image_field_internal.h"
#include "stoker/image/crop.h"

namespace stoker {
namespace {

constexpr double kMaxPixels = 1 << 16;  // of a side; keeps every product far from overflow

struct Plan {
  size_t field = 0;
  int64_t height = 0;  // of the window; 0: the image's own
  int64_t width = 0;
  int64_t padding = 0;
  FillValue fill;
};

class RandomCropTransform final : public Transform {
 public:
  explicit RandomCropTransform(const Plan& plan) : plan_(plan) {}

  Status Apply(Element& element, Rng& rng, Scratch& scratch) const override {
    Array& image = element.arrays[plan_.field];
    const ImageShape shape = ImageShapeOf(image);
    const ImageShape window = WindowOf(shape);
    // Where the shape was known beforehand this has been checked already.
    if (!Fits(shape, window)) {
      return InvalidArgument(
          "random_crop: element {}: a window of {} x {} does not fit into an image of {} x {} "
          "padded by {}; make the window smaller or the padding larger",
          element.key.index, window.height, window.width, shape.height, shape.width, plan_.padding);
    }
    Array out = scratch.NewArray(image.dtype(), {window.channels, window.height, window.width});
    Crop(image.data(), shape, DTypeSize(image.dtype()), rng, out.data());
    image = std::move(out);
    return OkStatus();
  }

  Status ApplyRows(Rows& rows, const RngFactory& rngs, Scratch& scratch) const override {
    Array& images = rows.columns[plan_.field];
    const ImageShape shape = ImageShapeOf(images);
    const ImageShape window = WindowOf(shape);
    if (!Fits(shape, window))
      return Transform::ApplyRows(rows, rngs, scratch);  // which says what is wrong
    const size_t value_size = DTypeSize(images.dtype());
    const size_t in_bytes = static_cast<size_t>(shape.num_values()) * value_size;
    const size_t out_bytes = static_cast<size_t>(window.num_values()) * value_size;
    Array out = scratch.NewArray(images.dtype(),
                                 {rows.size(), window.channels, window.height, window.width});
    for (size_t i = 0; i < rows.keys.size(); ++i) {
      Rng rng = rngs.For(rows.keys[i]);
      Crop(images.data() + i * in_bytes, shape, value_size, rng, out.data() + i * out_bytes);
    }
    images = std::move(out);
    return OkStatus();
  }

  bool works_on_columns() const override { return true; }

 private:
  ImageShape WindowOf(const ImageShape& image) const {
    return {.channels = image.channels,
            .height = plan_.height == 0 ? image.height : plan_.height,
            .width = plan_.width == 0 ? image.width : plan_.width};
  }

  bool Fits(const ImageShape& image, const ImageShape& window) const {
    return window.height <= image.height + 2 * plan_.padding &&
           window.width <= image.width + 2 * plan_.padding;
  }

  void Crop(const std::byte* image, const ImageShape& shape, size_t value_size, Rng& rng,
            std::byte* out) const {
    const ImageShape window = WindowOf(shape);
    const int64_t y = Draw(rng, shape.height, window.height);
    const int64_t x = Draw(rng, shape.width, window.width);
    CropImage(image, shape, value_size,
              {.y = y, .x = x, .height = window.height, .width = window.width}, plan_.fill.bytes,
              out);
  }

  // Where the window begins along one side, in pixels of the image without its border.
  int64_t Draw(Rng& rng, int64_t image, int64_t window) const {
    const int64_t places = image + 2 * plan_.padding - window + 1;
    return static_cast<int64_t>(rng.Below(static_cast<uint64_t>(places))) - plan_.padding;
  }

  const Plan plan_;
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

Result<Plan> PlanCrop(const RandomCrop& options, const Spec& spec) {
  Plan plan{.padding = options.padding};
  STOKER_ASSIGN_OR_RETURN(plan.field, FindImageField(RandomCrop::kName, spec, options.field));
  const Field& field = spec.fields[plan.field];
  STOKER_ASSIGN_OR_RETURN(plan.height, PlanSide(options, "height", options.height, field.shape[1]));
  STOKER_ASSIGN_OR_RETURN(plan.width, PlanSide(options, "width", options.width, field.shape[2]));
  STOKER_ASSIGN_OR_RETURN(plan.fill, MakeFillValue(RandomCrop::kName, "fill", options.fill, field));
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
      .Field("field", &RandomCrop::field, "field to crop");
}

Result<Dataset> RandomCrop::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const Plan plan, PlanCrop(*this, input.spec()));
  Spec output = input.spec();
  Shape& shape = output.fields[plan.field].shape;
  if (plan.height > 0) shape[1] = plan.height;
  if (plan.width > 0) shape[2] = plan.width;
  const std::string window =
      plan.height > 0 || plan.width > 0 ? ShapeToString(std::span(shape).subspan(1)) : "own size";
  return MapDataset(std::move(input), std::string(kName),
                    fmt::format("{}, {}, padding {}", field, window, padding), std::move(output),
                    std::make_shared<RandomCropTransform>(plan));
}

}  // namespace stoker
