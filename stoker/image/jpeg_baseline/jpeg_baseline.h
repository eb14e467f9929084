// Stoker's own decoder of regions of baseline JPEGs, with the bytes of libjpeg-turbo's defaults:
// Huffman decoding with two coefficients a look-up, and fast skipping of what the region does not
// need; the inverse DCT of four blocks at once; upsampling and colours in one step, only for the
// region's columns. It works strip by strip, so that its memory stays in the caches.
#pragma once

#include "stoker/image/image_codec.h"

namespace stoker {

// Decodes a region of a picture in the coordinates of the stored picture.
//   info     from ProbeJpeg of the same bytes; its channels are those of the result
//   out      region.height rows of region.width * info.channels bytes; unspecified unless the call
//            returns true
//   scratch  about 120 KB, and 16 to 32 rows of the region
// Returns whether this decoder takes the picture: see ParseFrame (jpeg_baseline/frame.h). Also
// false if values in it are so large that libjpeg's own versions differ. Cost: Huffman decoding of
// everything down to the region's last row of MCUs (quicker where nothing is kept, and where a
// block becomes one sample; almost none for restart intervals without pixels of the region),
// everything else only for the region, with fewer samples at a smaller scale. Allocates nothing
// beside `scratch`. Errors: kDataLoss (damaged or cut short; the message gives the byte). libjpeg
// may still decode such a picture, so try it before failing. Threads: concurrent calls are safe
// with different `scratch`. The same bytes on every CPU.
Result<bool> DecodeBaselineJpeg(const EncodedImage& image, const ImageInfo& info,
                                const ImageRegion& region, const PixelRows& out,
                                DecodeScratch& scratch);

}  // namespace stoker
