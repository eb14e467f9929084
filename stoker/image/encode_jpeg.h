// JPEG files from pixels, by libjpeg-turbo.
#pragma once

#include <string>

#include "stoker/base/status.h"
#include "stoker/image/encode.h"

namespace stoker {

// EncodeImage for JPEG.
Result<std::string> EncodeJpeg(const PixelView& pixels, const EncodeOptions& options);

}  // namespace stoker
