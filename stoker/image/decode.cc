#include "stoker/image/decode.h"

#include <cstring>
#include <new>

#include "stoker/base/stop_counter.h"
#include "stoker/image/bmp.h"
#include "stoker/image/exif.h"
#include "stoker/image/image_codec.h"
#include "stoker/image/jpeg.h"
#include "stoker/image/png.h"
#include "stoker/image/pnm.h"
#include "stoker/image/webp.h"

namespace stoker {
namespace {

constexpr size_t kMaxBytes = size_t{2} << 30;

struct Codec {
  ProbeFunction* probe;
  DecodeFunction* decode;
};
Codec CodecOf(ImageFormat format) {
  switch (format) {
    case ImageFormat::kJpeg: return {ProbeJpeg, DecodeJpegRegion};
    case ImageFormat::kPng: return {ProbePng, DecodePngRegion};
    case ImageFormat::kBmp: return {ProbeBmp, DecodeBmpRegion};
    case ImageFormat::kWebp: return {ProbeWebp, DecodeWebpRegion};
    case ImageFormat::kPnm: return {ProbePnm, DecodePnmRegion};
  }
  return {};
}

Status CheckRegion(std::string_view name, const ImageInfo& info, const ImageRegion& region) {
  const int scale = region.fast_scale;
  if ((scale != 1 && scale != 2 && scale != 4 && scale != 8) || scale > info.max_fast_scale) {
    return InvalidArgument("{}: a fast_scale of {}; {} has 1{}", name, scale,
                           ImageFormatName(info.format),
                           info.max_fast_scale == 8 ? ", 2, 4 and 8" : " only");
  }
  const int64_t height = FastScaledExtent(info.height, scale);
  const int64_t width = FastScaledExtent(info.width, scale);
  const bool inside = region.y >= 0 && region.x >= 0 && region.height > 0 && region.width > 0 &&
                      region.y < height && region.height <= height - region.y && region.x < width &&
                      region.width <= width - region.x;
  if (inside) return OkStatus();
  return InvalidArgument(
      "{}: the region of {} x {} pixels at x {}, y {} does not lie inside the picture of {} x {}; "
      "cut it to the picture first",
      name, region.width, region.height, region.x, region.y, width, height);
}

// Numbers as they are stored are those of a PNG only: in other formats they are colours.
Status CheckCanGiveIndices(std::string_view name, ImageFormat format,
                           const DecodeOptions& options) {
  const bool indices =
      options.channels == ImageChannels::kIndex || options.channels == ImageChannels::kIndex16;
  if (!indices || format == ImageFormat::kPng) return OkStatus();
  return InvalidArgument(
      "{}: a {} picture; values as they are stored (classes of a mask) are read from PNG only: "
      "convert it, or decode it as grey",
      name, ImageFormatName(format));
}

// The region of the stored picture that turns into `region`.
ImageRegion StoredRegion(const ImageInfo& info, const ImageRegion& region, const Turn& turn) {
  ImageRegion stored = region;
  if (turn.exchanges_axes) {
    std::swap(stored.y, stored.x);
    std::swap(stored.height, stored.width);
  }
  const int64_t height = FastScaledExtent(info.stored_height(), region.fast_scale);
  const int64_t width = FastScaledExtent(info.stored_width(), region.fast_scale);
  if (turn.flips_rows) stored.y = height - stored.y - stored.height;
  if (turn.flips_columns) stored.x = width - stored.x - stored.width;
  return stored;
}

// Copies height x width pixels (as delivered) of `channels` bytes from where they lie as stored.
template <size_t channels>
bool CopyTurned(const uint8_t* stored, int64_t stride, const Turn& turn, int64_t height,
                int64_t width, const PixelRows& out) {
  constexpr auto kPixel = static_cast<int64_t>(channels);
  // From one delivered row, and from one delivered column, to the next.
  int64_t down = turn.flips_rows ? -stride : stride;
  int64_t right = turn.flips_columns ? -kPixel : kPixel;
  const int64_t stored_height = turn.exchanges_axes ? width : height;
  const int64_t stored_width = turn.exchanges_axes ? height : width;
  if (turn.flips_rows) stored += (stored_height - 1) * stride;
  if (turn.flips_columns) stored += (stored_width - 1) * kPixel;
  if (turn.exchanges_axes) std::swap(down, right);
  StopCounter stop;
  for (int64_t y = 0; y < height; ++y) {
    const uint8_t* from = stored + y * down;
    uint8_t* to = out.row(y);
    for (int64_t x = 0; x < width; ++x, from += right, to += kPixel)
      std::memcpy(to, from, channels);
    if (stop.Asked(width)) return false;
  }
  return true;
}

Status DecodeTurned(const EncodedImage& image, const ImageInfo& info, const ImageRegion& region,
                    const DecodeOptions& options, const PixelRows& out, DecodeScratch& scratch) {
  const Turn turn = Turn::Of(info.orientation);
  const ImageRegion stored = StoredRegion(info, region, turn);
  const int64_t stride = stored.width * info.pixel_bytes();
  auto* const data =
      reinterpret_cast<uint8_t*>(scratch.Take(static_cast<size_t>(stored.height * stride)));
  STOKER_RETURN_IF_ERROR(
      CodecOf(info.format).decode(image, info, stored, options, {data, stride}, scratch));
  constexpr decltype(&CopyTurned<1>) kCopy[] = {CopyTurned<1>, CopyTurned<2>, CopyTurned<3>};
  const bool whole =
      kCopy[info.pixel_bytes() - 1](data, stride, turn, region.height, region.width, out);
  return whole ? OkStatus() : DecodingStopped(image.name);
}

}  // namespace

ImageRegion WholeImage(const ImageInfo& info, int fast_scale) {
  return {.height = FastScaledExtent(info.height, fast_scale),
          .width = FastScaledExtent(info.width, fast_scale),
          .fast_scale = fast_scale};
}

Result<ImageInfo> ProbeImage(std::span<const std::byte> bytes, std::string_view name,
                             const DecodeOptions& options) {
  STOKER_ASSIGN_OR_RETURN(const ImageFormat format, DetectImageFormat(bytes, name));
  if (bytes.size() > kMaxBytes) {
    return InvalidArgument("{}: a picture of {} bytes; {} are the most that is read", name,
                           bytes.size(), kMaxBytes);
  }
  STOKER_RETURN_IF_ERROR(CheckCanGiveIndices(name, format, options));
  STOKER_ASSIGN_OR_RETURN(ImageInfo info, CodecOf(format).probe({bytes, name}, options));
  if (!options.apply_orientation) info.orientation = 1;
  if (Turn::Of(info.orientation).exchanges_axes) std::swap(info.height, info.width);
  return info;
}

Status DecodeImageRegion(std::span<const std::byte> bytes, std::string_view name,
                         const ImageInfo& info, const ImageRegion& region,
                         const DecodeOptions& options, const PixelRows& out,
                         DecodeScratch& scratch) {
  STOKER_RETURN_IF_ERROR(CheckRegion(name, info, region));
  scratch.Reset();
  const EncodedImage image{bytes, name};
  try {
    if (info.orientation != 1) return DecodeTurned(image, info, region, options, out, scratch);
    return CodecOf(info.format).decode(image, info, region, options, out, scratch);
  } catch (const std::bad_alloc&) {
    return ResourceExhausted(
        "{}: no memory to decode {} x {} pixels; free some, or decode fewer at a time", name,
        info.width, info.height);
  }
}

Result<Array> DecodeImage(std::span<const std::byte> bytes, std::string_view name,
                          const DecodeOptions& options) {
  STOKER_ASSIGN_OR_RETURN(const ImageInfo info, ProbeImage(bytes, name, options));
  Array image = Array::Allocate(DType::kUInt8, {info.height, info.width, info.pixel_bytes()});
  DecodeScratch scratch;
  STOKER_RETURN_IF_ERROR(DecodeImageRegion(
      bytes, name, info, WholeImage(info), options,
      {image.values<uint8_t>().data(), info.width * info.pixel_bytes()}, scratch));
  return image;
}

}  // namespace stoker
