// The range of widths of a model's layer.
#pragma once

#include "stoker/base/options.h"

namespace stoker {

// Outputs, channels or widths of a layer: far more than any model has, and few enough that the size
// of a layer fits into 64 bits.
inline OptionRange WidthRange() { return Between(1, 100'000'000); }

}  // namespace stoker
