// Regions of baseline JPEGs, decoded by our own means, with the bytes of libjpeg-turbo's defaults:
// Huffman decoding with two coefficients a look-up, and a quick way past what the region does not
// need; the inverse DCT of four blocks at once; upsampling and colours in one step, for the
// region's columns alone. All of it strip by strip, so that the working memory stays in the caches.
#pragma once

#include "stoker/image/image_codec.h"

namespace stoker {

// Decodes a region of a picture in the coordinates that it is stored in.
//   info     from ProbeJpeg of the same bytes; its channels are what comes out
//   out      region.height rows of region.width * info.channels bytes; unspecified unless the call
//            returns true
//   scratch  some 120 KB, and 16 to 32 rows of the region
// Returns whether the picture is one that is decoded here: see ParseFrame (jpeg_baseline/frame.h).
// Also false where values in it are so large that libjpeg's own versions differ.
// Cost: Huffman decoding of everything down to the region's last row of MCUs (quicker where nothing
// is kept, and where a block becomes one sample; almost none of restart intervals without pixels of
// the region), all else for the region alone, of fewer samples at a smaller scale. Nothing is
// allocated beside `scratch`.
// Errors: kDataLoss (damaged or cut short; the message gives the byte). Libjpeg may make something
// of such a picture, so it should have the last word.
// Threads: concurrent calls are safe with different `scratch`. The same bytes on every CPU.
Result<bool> DecodeBaselineJpeg(const EncodedImage& image, const ImageInfo& info,
                                const ImageRegion& region, const PixelRows& out,
                                DecodeScratch& scratch);

}  // namespace stoker
