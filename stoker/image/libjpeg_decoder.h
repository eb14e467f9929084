// JPEG regions through libjpeg-turbo: every kind it reads, and the measure of what is faster.
#pragma once

#include "stoker/image/image_codec.h"

namespace stoker {

// As DecodeJpegRegion (jpeg.h).
DecodeFunction DecodeWithLibjpeg;

}  // namespace stoker
