#include "stoker/data/transforms/crop_array_internal.h"

#include "stoker/data/transforms/image_field_internal.h"

namespace stoker {

void CropInto(const std::byte* in, const ImageShape& shape, size_t value_size,
              const CropWindow& window, Border border, const FillValue& fill, std::byte* out) {
  if (border == Border::kConstant) return CropImage(in, shape, value_size, window, fill.bytes, out);
  CropOverBorder(in, shape, value_size, window, border, out);
}

Array CropArray(const Array& array, const CropWindow& window, Border border, const FillValue& fill,
                Scratch& scratch) {
  const ImageShape shape = ImageShapeOf(array);
  Array out = scratch.NewArray(array.dtype(), {shape.channels, window.height, window.width});
  CropInto(array.data(), shape, DTypeSize(array.dtype()), window, border, fill, out.data());
  return out;
}

Border BorderOf(std::string_view padding_mode) {
  if (padding_mode == "edge") return Border::kEdge;
  if (padding_mode == "reflect") return Border::kReflect;
  return padding_mode == "symmetric" ? Border::kSymmetric : Border::kConstant;
}

Status CheckBorder(std::string_view who, Border border, const ImageShape& image) {
  if (border == Border::kConstant || (image.height > 0 && image.width > 0)) return OkStatus();
  return InvalidArgument(
      "{}: an image of {} x {} pixels has none to go on with; take `padding_mode: constant`", who,
      image.height, image.width);
}

}  // namespace stoker
