// Whole pictures as planes, for callers that name the format.
#pragma once

#include "stoker/image/image_codec.h"

namespace stoker {

// uint8 [1 or 3, height, width] as the picture is stored: alpha dropped, not turned.
Result<Array> DecodePlanes(const EncodedImage& image, const ImageLimits& limits,
                           ProbeFunction* probe, DecodeFunction* decode);

}  // namespace stoker
