// JPEG pictures (ITU-T T.81): baseline and progressive, 8 bits, grey, YCbCr, RGB, CMYK and YCCK.
#pragma once

#include "stoker/image/image_codec.h"

namespace stoker {

ProbeFunction ProbeJpeg;

// The result is that of libjpeg-turbo with its defaults (accurate integer IDCT, smooth chroma
// upsampling), but without smoothing of blocks whose coefficients are missing, which would depend
// on the region. CMYK and YCCK become RGB by R = (255 - C) (255 - K) / 255; the values of a file
// with Adobe's marker are inverted first.
DecodeFunction DecodeJpegRegion;

}  // namespace stoker
