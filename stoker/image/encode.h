// Pixels to encoded pictures: JPEG and PNG with one interface; decode.h is the inverse.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/base/status.h"
#include "stoker/image/decode.h"
#include "stoker/image/pixel_view.h"

namespace stoker {

// How many pixels share one pair of chroma values in a JPEG.
enum class ChromaSubsampling : uint8_t { k444, k422, k420 };

struct EncodeOptions {
  ImageFormat format = ImageFormat::kJpeg;  // or kPng
  // JPEG: 1 to 100, as libjpeg scales the quantization tables of ITU-T T.81 annex K.
  int quality = 90;
  ChromaSubsampling subsampling = ChromaSubsampling::k420;
};

// Returns the bytes of a file.
//   JPEG  baseline, grey or YCbCr (JFIF), Huffman tables made for the picture, no metadata
//   PNG   8 bits, grey or RGB; decodes to the same pixels
//   pixels  1 or 3 channels, at least one pixel, sides of at most 65,500 (JPEG)
// Errors: kInvalidArgument (invalid pixels or options), kResourceExhausted (no memory), kCancelled
// (the thread was asked to stop; checks StopScope every few milliseconds, but not within a row of a
// PNG). Thread-safe. The same bytes on every CPU.
Result<std::string> EncodeImage(const PixelView& pixels, const EncodeOptions& options);

}  // namespace stoker
