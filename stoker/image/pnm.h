// Binary PGM and PPM pictures (netpbm.sourceforge.net/doc/pgm.html and ppm.html).
#pragma once

#include "stoker/image/image_codec.h"

namespace stoker {

ProbeFunction ProbePnm;

// Decodes the first picture of a P5 (grey) or P6 (colour) file. Values are scaled from 0..maxval to
// 0..255, rounded to nearest.
DecodeFunction DecodePnmRegion;

// Decodes the first picture to uint8 [1 or 3, height, width].
//   pnm   the whole file; borrowed until the call returns
//   name  what messages call it: the file's path
// Errors: kDataLoss (another format, cut short, a sample above maxval; the message gives the byte),
// kUnimplemented (text forms P1 to P3, bitmaps P4), kInvalidArgument (more pixels than `limits`
// allow).
Result<Array> DecodePnm(std::span<const std::byte> pnm, std::string_view name,
                        const ImageLimits& limits = {});

}  // namespace stoker
