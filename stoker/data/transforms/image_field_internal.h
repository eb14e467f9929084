// What the transforms of images in [channels, height, width] share.
#pragma once

#include <string_view>

#include "stoker/base/array.h"
#include "stoker/data/core/spec.h"
#include "stoker/image/image_shape.h"

namespace stoker {

// The number of the field called `name`, which must have three dimensions. `who` is the transform,
// for messages.
Result<size_t> FindImageField(std::string_view who, const Spec& spec, std::string_view name);

// Of an array whose last three dimensions are channels, height and width.
ImageShape ImageShapeOf(const Array& array);

}  // namespace stoker
