// Encodes pixels as a PNG file for display.
#pragma once

#include <string>

#include "stoker/base/array.h"
#include "stoker/base/status.h"

namespace stoker {

// Returns the bytes of a PNG of 8 bits, which decode to the same pixels.
//   pixels  uint8 [height, width, channels], 1 (grey) or 3 (RGB) channels, at least one pixel
// Errors: kInvalidArgument (another array), kResourceExhausted (no memory). Thread-safe.
Result<std::string> EncodePng(const Array& pixels);

}  // namespace stoker
