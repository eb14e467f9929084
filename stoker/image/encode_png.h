// Pixels to a PNG file, for people to look at.
#pragma once

#include <string>

#include "stoker/base/array.h"
#include "stoker/base/status.h"

namespace stoker {

// The bytes of a PNG of 8 bits, which decode to the same pixels.
//   pixels  uint8 [height, width, channels], 1 (grey) or 3 (RGB) channels, at least one pixel
// Errors: kInvalidArgument (no such array), kResourceExhausted (no memory). Thread-safe.
Result<std::string> EncodePng(const Array& pixels);

}  // namespace stoker
