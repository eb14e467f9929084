#include "stoker/data/transforms/crop_array_internal.h"

#include "stoker/data/transforms/image_field_internal.h"

namespace stoker {

Array CropArray(const Array& array, const CropWindow& window, const FillValue& fill,
                Scratch& scratch) {
  const ImageShape shape = ImageShapeOf(array);
  Array out = scratch.NewArray(array.dtype(), {shape.channels, window.height, window.width});
  CropImage(array.data(), shape, DTypeSize(array.dtype()), window, fill.bytes, out.data());
  return out;
}

}  // namespace stoker
