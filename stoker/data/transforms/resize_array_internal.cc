#include "stoker/data/transforms/resize_array_internal.h"

#include <algorithm>

#include "stoker/data/pictures/picture_scratch.h"
#include "stoker/image/store.h"

namespace stoker {
namespace {

// As many planes at once as a pixel has bytes.
bool ResizeBytes(const Array& image, const CropWindow& window, ResampleFilter filter,
                 const ResampleSize& size, Array& out) {
  const ImageShape shape = ImageShapeOf(image);
  const int64_t plane = shape.height * shape.width, out_plane = size.height * size.width;
  for (int64_t c = 0; c < shape.channels; c += kPixelBytes) {
    const int64_t channels = std::min(kPixelBytes, shape.channels - c);
    const PixelView source{
        .data = image.values<uint8_t>().data() + c * plane + window.y * shape.width + window.x,
        .height = window.height,
        .width = window.width,
        .channels = channels,
        .row_stride = shape.width,
        .plane_stride = plane};
    const PixelSlot slot = PixelSlot::Of(DType::kUInt8, out.data() + c * out_plane, size.height,
                                         size.width, channels, /*channels_last=*/false);
    if (!ResampleToSlot(source, ResampleBox::Whole(source), filter, {}, slot,
                        ResampleScratchOfThisThread()))
      return false;
  }
  return true;
}

bool ResizeFloats(const Array& image, const CropWindow& window, ResampleFilter filter,
                  const ResampleSize& size, Array& out) {
  const ImageShape shape = ImageShapeOf(image);
  const ResampleBox box{.height = static_cast<double>(window.height),
                        .width = static_cast<double>(window.width)};
  for (int64_t c = 0; c < shape.channels; ++c) {
    if (!ResampleFloats(
            image.values<float>().data() + (c * shape.height + window.y) * shape.width + window.x,
            window.height, window.width, shape.width, box, filter, size,
            ResampleScratchOfThisThread(),
            out.values<float>().data() + c * size.height * size.width))
      return false;
  }
  return true;
}

bool TakeNearest(const Array& image, const CropWindow& window, const ResampleSize& size,
                 Array& out) {
  const ImageShape shape = ImageShapeOf(image);
  const size_t value_size = DTypeSize(image.dtype());
  const ResampleBox box{static_cast<double>(window.y), static_cast<double>(window.x),
                        static_cast<double>(window.height), static_cast<double>(window.width)};
  for (int64_t c = 0; c < shape.channels; ++c) {
    const auto bytes = static_cast<int64_t>(value_size);
    if (!ResampleNearest(image.data() + c * shape.height * shape.width * bytes, shape.height,
                         shape.width, value_size, box, size,
                         out.data() + c * size.height * size.width * bytes))
      return false;
  }
  return true;
}

// While one lives, the tables of a resize are charged to the stage, if they are large.
class ChargedTables {
 public:
  ChargedTables(const CropWindow& window, ResampleFilter filter, const ResampleSize& size,
                Scratch& scratch) {
    const ResampleBox box{.height = static_cast<double>(window.height),
                          .width = static_cast<double>(window.width)};
    const int64_t bytes = ResampleTableBytes(window.height, window.width, box, filter, size);
    if (bytes > kMostUnchargedTables) charge_ = scratch.NewArray(DType::kUInt8, {bytes});
  }
  ChargedTables(const ChargedTables&) = delete;
  ChargedTables& operator=(const ChargedTables&) = delete;
  ~ChargedTables() {
    if (charge_.num_bytes() > 0) ResampleScratchOfThisThread() = ResampleScratch();
  }

 private:
  Array charge_;  // nothing is written into it, so it takes no memory itself
};

}  // namespace

Status CheckInterpolation(std::string_view who, const Spec& spec, const PairedFields& fields,
                          ResampleFilter filter) {
  for (const PairedField& paired : fields) {
    const Field& field = spec.fields[paired.index];
    if (paired.is_mask || filter == ResampleFilter::kNearest || field.dtype == DType::kUInt8 ||
        field.dtype == DType::kFloat32)
      continue;
    return InvalidArgument(
        "{}: field '{}' is {}; {} takes uint8 or float32: put cast in front, take `interpolation: "
        "nearest`, or name the field under masks",
        who, field.name, DTypeName(field.dtype), ResampleFilterName(filter));
  }
  return OkStatus();
}

Result<ResampleSize> PlanSize(std::string_view who, int64_t size, int64_t height, int64_t width) {
  const bool square = size > 0 && height == 0 && width == 0;
  const bool sides = size == 0 && height > 0 && width > 0;
  if (!square && !sides) {
    return InvalidArgument("{}: size is {}, height {} and width {}; give size, or height and width",
                           who, size, height, width);
  }
  const ResampleSize planned = square ? ResampleSize{size, size} : ResampleSize{height, width};
  if (planned.height * planned.width <= kMostResizedPixels) return planned;
  return InvalidArgument(
      "{}: {} x {} pixels (width x height) are wanted, at most {} are made; ask for fewer", who,
      planned.width, planned.height, kMostResizedPixels);
}

Result<Array> ResizeArray(std::string_view who, const Array& image, const CropWindow& window,
                          ResampleFilter filter, const ResampleSize& size, Scratch& scratch) {
  const ImageShape shape = ImageShapeOf(image);
  STOKER_RETURN_IF_ERROR(
      CheckResample(who, {.height = shape.height, .width = shape.width, .channels = 1},
                    {static_cast<double>(window.y), static_cast<double>(window.x),
                     static_cast<double>(window.height), static_cast<double>(window.width)},
                    size));
  Array out = scratch.NewArray(image.dtype(), {shape.channels, size.height, size.width});
  bool whole = true;
  if (filter == ResampleFilter::kNearest) {
    whole = TakeNearest(image, window, size, out);
  } else {
    const ChargedTables tables(window, filter, size, scratch);
    whole = image.dtype() == DType::kUInt8 ? ResizeBytes(image, window, filter, size, out)
                                           : ResizeFloats(image, window, filter, size, out);
  }
  if (!whole) return Cancelled("{}: asked to stop", who);
  return out;
}

}  // namespace stoker
