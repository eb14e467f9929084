// Resizes arrays [channels, height, width] of any dtype.
#pragma once

#include <string>
#include <string_view>

#include "stoker/data/transforms/paired_fields_internal.h"
#include "stoker/image/crop.h"
#include "stoker/image/resample.h"

namespace stoker {

// The option `interpolation` of T.
template <typename T>
void DescribeInterpolation(OptionTable<T>& table) {
  table.Field("interpolation", &T::interpolation,
              "how pixels are weighed; all but nearest are antialiased",
              OneOf{{"nearest", "box", "area", "bilinear", "bicubic", "lanczos"}});
}

// Returns InvalidArgument if an image is of a type that the filter cannot mix.
Status CheckInterpolation(std::string_view who, const Spec& spec, const PairedFields& fields,
                          ResampleFilter filter);

// Returns height and width from the options `size`, `height` and `width`, where 0 means not given:
// both from size, or each from its own. InvalidArgument if both or neither are given, or if the
// result would have too many pixels (kMostResizedPixels).
Result<ResampleSize> PlanSize(std::string_view who, int64_t size, int64_t height, int64_t width);

// Crops the window, which must lie inside, and resizes it: the filter reads nothing outside the
// window, as in torchvision. uint8 by Resample, float32 by ResampleFloats, masks and
// ResampleFilter::kNearest by ResampleNearest.
Result<Array> ResizeArray(std::string_view who, const Array& image, const CropWindow& window,
                          ResampleFilter filter, const ResampleSize& size, Scratch& scratch);

}  // namespace stoker
