// Shared by the transforms of images in [channels, height, width].
#pragma once

#include <string_view>

#include "stoker/base/array.h"
#include "stoker/data/core/spec.h"
#include "stoker/image/image_shape.h"

namespace stoker {

// Returns the number of the field called `name`, which must have three dimensions. `who` is the
// transform, for messages.
Result<size_t> FindImageField(std::string_view who, const Spec& spec, std::string_view name);

// Returns the shape of an array whose last three dimensions are channels, height and width.
ImageShape ImageShapeOf(const Array& array);

}  // namespace stoker
