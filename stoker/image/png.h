// PNG pictures (www.w3.org/TR/png), read with libspng.
#pragma once

#include "stoker/image/image_codec.h"

namespace stoker {

ProbeFunction ProbePng;

// All colour types, interlaced or not. Of 16-bit samples the high byte is kept; 1, 2 and 4 bits are
// scaled to 0..255, unless the options ask for the stored numbers. Gamma and colour profiles are
// ignored, as in most training pipelines.
DecodeFunction DecodePngRegion;

// Decodes a PNG to uint8 [channels, height, width]: 1 channel for greyscale, 3 (RGB) for colour and
// palette pictures, as stored: transparency is dropped, nothing is turned upright.
//   png   the whole file; borrowed until the call returns
//   name  what messages call it: the file's path
// Cost: beside the result, three bytes a pixel.
// Errors: kDataLoss (another format, cut short, damaged; the message gives the byte up to which the
// file was read), kInvalidArgument (more pixels than `limits` allow).
Result<Array> DecodePng(std::span<const std::byte> png, std::string_view name,
                        const ImageLimits& limits = {});

}  // namespace stoker
