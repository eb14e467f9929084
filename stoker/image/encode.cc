#include "stoker/image/encode.h"

#include "stoker/base/array.h"
#include "stoker/image/encode_jpeg.h"
#include "stoker/image/encode_png.h"
#include "stoker/image/interleave_row.h"

namespace stoker {
namespace {

Result<std::string> EncodeAsPng(const PixelView& pixels) {
  const Array interleaved =
      Array::Allocate(DType::kUInt8, {pixels.height, pixels.width, pixels.channels});
  uint8_t* const out = interleaved.values<uint8_t>().data();
  for (int64_t y = 0; y < pixels.height; ++y)
    InterleaveRow(pixels, y, out + y * pixels.width * pixels.channels);
  return EncodePng(interleaved);
}

}  // namespace

Result<std::string> EncodeImage(const PixelView& pixels, const EncodeOptions& options) {
  if ((pixels.channels != 1 && pixels.channels != 3) || pixels.height < 1 || pixels.width < 1) {
    return InvalidArgument(
        "a picture of {} channels and {} x {} pixels (width x height) cannot be written; there "
        "must be 1 (grey) or 3 (RGB) channels and at least one pixel",
        pixels.channels, pixels.width, pixels.height);
  }
  if (options.format == ImageFormat::kPng) return EncodeAsPng(pixels);
  if (options.format != ImageFormat::kJpeg)
    return InvalidArgument("{} is not written; JPEG and PNG are", ImageFormatName(options.format));
  if (options.quality < 1 || options.quality > 100)
    return InvalidArgument("JPEG: quality {}; it must be 1 to 100", options.quality);
  return EncodeJpeg(pixels, options);
}

}  // namespace stoker
