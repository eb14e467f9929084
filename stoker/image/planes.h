// Decodes whole pictures to planes, for callers that know the format.
#pragma once

#include "stoker/image/image_codec.h"

namespace stoker {

// Returns uint8 [1 or 3, height, width] as the picture is stored: alpha dropped, not turned.
Result<Array> DecodePlanes(const EncodedImage& image, const ImageLimits& limits,
                           ProbeFunction* probe, DecodeFunction* decode);

}  // namespace stoker
