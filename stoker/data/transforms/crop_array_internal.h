// Crops windows from arrays [channels, height, width].
#pragma once

#include <string>
#include <string_view>

#include "stoker/base/options.h"
#include "stoker/data/core/fill_value.h"
#include "stoker/data/core/transform.h"
#include "stoker/image/border.h"

namespace stoker {

// Returns the window of every channel in a new array; beyond the image it has `border`, and `fill`
// if that is kConstant.
Array CropArray(const Array& array, const CropWindow& window, Border border, const FillValue& fill,
                Scratch& scratch);

// Does the same into memory of the window's size.
void CropInto(const std::byte* in, const ImageShape& shape, size_t value_size,
              const CropWindow& window, Border border, const FillValue& fill, std::byte* out);

// The option `padding_mode` of T, and its value.
template <typename T>
void DescribePaddingMode(OptionTable<T>& table) {
  table.Field("padding_mode", &T::padding_mode,
              "what the border shows: constant (fill), edge (the outermost pixels), reflect (the "
              "image mirrored at them), symmetric (mirrored at the edge)",
              OneOf{{"constant", "edge", "reflect", "symmetric"}});
}
Border BorderOf(std::string_view padding_mode);

// Returns InvalidArgument if there is no pixel to continue. `who` is the transform, for messages.
Status CheckBorder(std::string_view who, Border border, const ImageShape& image);

}  // namespace stoker
