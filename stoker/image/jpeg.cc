#include "stoker/image/jpeg.h"

#include "stoker/image/jpeg_baseline/jpeg_baseline.h"
#include "stoker/image/jpeg_header.h"
#include "stoker/image/libjpeg_decoder.h"

namespace stoker {
namespace {

// Every block of a component takes at least one bit, and one component has a block for every 8 x 8
// pixels: a header that announces more is not believed.
constexpr int64_t kMaxPixelsPerByte = 8 * 64;

}  // namespace

Result<ImageInfo> ProbeJpeg(const EncodedImage& image, const DecodeOptions& options) {
  STOKER_ASSIGN_OR_RETURN(const JpegHeader header, ReadJpegHeader(image));
  STOKER_RETURN_IF_ERROR(CheckPixels(image.name, header.width, header.height, options.limits));
  const auto size = static_cast<int64_t>(image.bytes.size());
  if (options.jpeg_warnings_are_errors && header.width * header.height / kMaxPixelsPerByte > size) {
    return DataLoss(
        "{}: {} x {} pixels announced, too many for a file of {} bytes; it was cut short: copy or "
        "download it again",
        image.name, header.width, header.height, size);
  }
  return ImageInfo{.format = ImageFormat::kJpeg,
                   .height = header.height,
                   .width = header.width,
                   .channels = DeliveredChannels(options, header.num_components == 1),
                   .orientation = header.orientation,
                   .max_fast_scale = 8};
}

Status DecodeJpegRegion(const EncodedImage& image, const ImageInfo& info, const ImageRegion& region,
                        const DecodeOptions& options, const PixelRows& out,
                        DecodeScratch& scratch) {
  // What ours does not take, or takes for damaged, is libjpeg's to judge: it says what is wrong, or
  // makes the best of it where the options allow that.
  const Result<bool> decoded = DecodeBaselineJpeg(image, info, region, out, scratch);
  if (decoded.ok() && *decoded) return OkStatus();
  if (decoded.status().code() == StatusCode::kCancelled) return decoded.status();
  return DecodeWithLibjpeg(image, info, region, options, out, scratch);
}

}  // namespace stoker
