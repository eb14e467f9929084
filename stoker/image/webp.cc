#include "stoker/image/webp.h"

#include <webp/decode.h>

#include <algorithm>

#include "stoker/image/exif.h"

namespace stoker {
namespace {

const uint8_t* Data(const EncodedImage& image) {
  return reinterpret_cast<const uint8_t*>(image.bytes.data());
}

Status Check(const EncodedImage& image, VP8StatusCode code) {
  switch (code) {
    case VP8_STATUS_OK: return OkStatus();
    case VP8_STATUS_OUT_OF_MEMORY:
      return ResourceExhausted(
          "{}: no memory to decode this WebP; free some, or decode fewer at a time", image.name);
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED:
      return DataLoss(
          "{}: byte {}: the WebP ends too early; the file was cut short: copy or download it again",
          image.name, image.bytes.size());
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return Unimplemented("{}: a WebP with features that libwebp does not know: convert it",
                           image.name);
    default:
      return DataLoss(
          "{}: libwebp finds the data inconsistent; the WebP is damaged: copy or download it again",
          image.name);
  }
}

uint32_t Number32(std::span<const std::byte> bytes) {
  uint32_t value = 0;
  for (size_t i = 4; i-- > 0;) value = value << 8 | std::to_integer<uint32_t>(bytes[i]);
  return value;
}

// From the chunk EXIF (RFC 9649, 2.7.1.5), after the picture; 1 if there is none.
int Orientation(std::span<const std::byte> webp) {
  constexpr size_t kRiffHeader = 12, kChunkHeader = 8;
  for (size_t at = kRiffHeader; webp.size() >= at + kChunkHeader;) {
    const size_t size = Number32(webp.subspan(at + 4));
    const std::string_view type(reinterpret_cast<const char*>(webp.data() + at), 4);
    at += kChunkHeader;
    if (type == "EXIF") {
      std::span<const std::byte> exif = webp.subspan(at, std::min(size, webp.size() - at));
      constexpr std::string_view kPrefix("Exif\0\0",
                                         6);  // which some writers leave there, as in JPEG
      const std::string_view text(reinterpret_cast<const char*>(exif.data()), exif.size());
      return ExifOrientation(text.starts_with(kPrefix) ? exif.subspan(kPrefix.size()) : exif);
    }
    at += size + size % 2;
  }
  return 1;
}

// The part that libwebp is asked for: it moves lossy pictures' left and upper edges to even places,
// and chroma is interpolated between neighbours, of which those at an edge have none.
// Where alpha counts it must not be cut above: libwebp 1.2 begins a filtered alpha plane at the cut
// as if nothing were above it.
ImageRegion WithMargin(const ImageRegion& region, const ImageInfo& info, bool with_alpha) {
  constexpr int64_t kMargin = 2;
  ImageRegion wide;
  wide.y = with_alpha ? 0 : std::max<int64_t>(0, region.y - kMargin) / 2 * 2;
  wide.x = std::max<int64_t>(0, region.x - kMargin) / 2 * 2;
  wide.height = std::min(info.stored_height(), region.y + region.height + kMargin) - wide.y;
  wide.width = std::min(info.stored_width(), region.x + region.width + kMargin) - wide.x;
  return wide;
}

}  // namespace

Result<ImageInfo> ProbeWebp(const EncodedImage& image, const DecodeOptions& options) {
  WebPBitstreamFeatures features;
  STOKER_RETURN_IF_ERROR(Check(image, WebPGetFeatures(Data(image), image.bytes.size(), &features)));
  if (features.has_animation != 0) {
    return Unimplemented("{}: an animated WebP; Stoker reads still ones: extract a frame",
                         image.name);
  }
  STOKER_RETURN_IF_ERROR(CheckPixels(image.name, features.width, features.height, options.limits));
  return ImageInfo{.format = ImageFormat::kWebp,
                   .height = features.height,
                   .width = features.width,
                   .channels = DeliveredChannels(options, /*stored_grey=*/false),
                   .alpha = features.has_alpha != 0,
                   .orientation = Orientation(image.bytes)};
}

Status DecodeWebpRegion(const EncodedImage& image, const ImageInfo& info, const ImageRegion& region,
                        const DecodeOptions& options, const PixelRows& out,
                        DecodeScratch& scratch) {
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0)
    return Unimplemented("{}: this libwebp is not the one Stoker was built with; build it again",
                         image.name);
  STOKER_RETURN_IF_ERROR(
      Check(image, WebPGetFeatures(Data(image), image.bytes.size(), &config.input)));
  STOKER_RETURN_IF_ERROR(
      CheckIsAsProbed(image.name, info, config.input.width, config.input.height));
  const bool over = info.alpha && options.background.has_value();
  const PixelLayout layout = over ? PixelLayout::kRgba : PixelLayout::kRgb;
  const auto pixel_bytes = static_cast<int64_t>(BytesPerPixel(layout));
  const ImageRegion wide = WithMargin(region, info, over);
  const int64_t stride = wide.width * pixel_bytes;
  auto* const rows =
      reinterpret_cast<uint8_t*>(scratch.Take(static_cast<size_t>(stride * wide.height)));
  config.options.use_cropping = 1;
  config.options.crop_top = static_cast<int>(wide.y);
  config.options.crop_left = static_cast<int>(wide.x);
  config.options.crop_height = static_cast<int>(wide.height);
  config.options.crop_width = static_cast<int>(wide.width);
  config.output.colorspace = over ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {.rgba = rows,
                          .stride = static_cast<int>(stride),
                          .size = static_cast<size_t>(stride * wide.height)};
  const VP8StatusCode code = WebPDecode(Data(image), image.bytes.size(), &config);
  WebPFreeDecBuffer(&config.output);
  STOKER_RETURN_IF_ERROR(Check(image, code));
  for (int64_t y = 0; y < region.height; ++y) {
    const uint8_t* row =
        rows + (region.y - wide.y + y) * stride + (region.x - wide.x) * pixel_bytes;
    ConvertPixels(layout, row, static_cast<size_t>(region.width), options.background, info.channels,
                  out.row(y));
  }
  return OkStatus();
}

}  // namespace stoker
