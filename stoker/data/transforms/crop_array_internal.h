// Cutting windows out of arrays [channels, height, width].
#pragma once

#include "stoker/data/fill_value.h"
#include "stoker/data/transform.h"
#include "stoker/image/crop.h"

namespace stoker {

// The window of every channel in an array of its own; values from outside are `fill`.
Array CropArray(const Array& array, const CropWindow& window, const FillValue& fill,
                Scratch& scratch);

}  // namespace stoker
