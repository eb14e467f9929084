// WebP pictures (RFC 9649), lossy and lossless, read with libwebp.
#pragma once

#include "stoker/image/image_codec.h"

namespace stoker {

ProbeFunction ProbeWebp;

// The result is that of libwebp with its defaults (smooth chroma upsampling, no dithering). Refuses
// animations.
DecodeFunction DecodeWebpRegion;

}  // namespace stoker
