// Decodes regions of JPEGs with libjpeg-turbo: every kind it reads; the reference for faster
// decoders.
#pragma once

#include "stoker/image/image_codec.h"

namespace stoker {

// As DecodeJpegRegion (jpeg.h).
DecodeFunction DecodeWithLibjpeg;

}  // namespace stoker
