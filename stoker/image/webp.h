// WebP pictures (RFC 9649), lossy and lossless, read with libwebp.
#pragma once

#include "stoker/image/image_codec.h"

namespace stoker {

ProbeFunction ProbeWebp;

// What libwebp gives with its defaults (smooth chroma upsampling, no dithering). Animations are
// refused.
DecodeFunction DecodeWebpRegion;

}  // namespace stoker
