// Windows bitmaps (BMP, also called DIB): the headers of OS/2 1.x (12 bytes) and of Windows 3 to 5
// (40 to 124 bytes), read by Stoker's own parser. Source: Microsoft, "Bitmap Storage"
// (BITMAPFILEHEADER, BITMAPINFOHEADER, BITMAPV4HEADER, BITMAPV5HEADER, "Bitmap Compression").
#pragma once

#include "stoker/image/image_codec.h"

namespace stoker {

ProbeFunction ProbeBmp;

// 1, 2, 4 and 8 bits with a palette, plain or run-length coded (RLE4, RLE8); 16, 24 and 32 bits,
// with or without bit fields; rows from bottom or from top. Channels of less than 8 bits are scaled
// to 0..255, rounded to nearest; of more, the upper 8 are kept. Pixels that run-length coding skips
// have colour 0 of the palette; an index beyond its end is black. Alpha counts if the header has a
// mask for it; the fourth byte of plain 32 bits is ignored.
DecodeFunction DecodeBmpRegion;

}  // namespace stoker
