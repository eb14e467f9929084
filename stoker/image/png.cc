#include "stoker/image/png.h"

#include <spng.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include "stoker/base/stop_counter.h"
#include "stoker/image/exif.h"
#include "stoker/image/planes.h"
#include "stoker/image/png_stream.h"

namespace stoker {
namespace {

constexpr int64_t kMaxDeflateRatio = 1032;  // zlib.net/zlib_tech.html

struct FreeContext {
  void operator()(spng_ctx* context) const { spng_ctx_free(context); }
};

// Feeds libspng.
class PngFile {
 public:
  explicit PngFile(const EncodedImage& image)
      : bytes_(image.bytes), name_(image.name), stream_(image.bytes), context_(spng_ctx_new(0)) {}
  PngFile(const PngFile&) = delete;
  PngFile& operator=(const PngFile&) = delete;

  std::string_view name() const { return name_; }

  // Reads the header.
  Status Open(const ImageLimits& limits) {
    if (!context_) return Check(SPNG_EMEM);
    // No chunk that is whole is larger than the file, and none that libspng unpacks reaches it.
    const size_t most = std::min<size_t>(bytes_.size(), INT32_MAX);
    STOKER_RETURN_IF_ERROR(Check(spng_set_chunk_limits(context(), most, most)));
    STOKER_RETURN_IF_ERROR(Check(spng_set_png_stream(context(), Read, this)));
    const int code = spng_get_ihdr(context(), &header_);
    if (code == SPNG_EOVERFLOW) STOKER_RETURN_IF_ERROR(CheckAnnounced(limits));
    STOKER_RETURN_IF_ERROR(Check(code));
    return CheckSize(limits);
  }

  // The status of a call that returned `code`.
  Status Check(int code) const {
    if (!stream_.damage().empty()) {
      return DataLoss("{}: byte {}: {}; the PNG is damaged: copy or download it again", name_,
                      stream_.at(), stream_.damage());
    }
    if (stream_.cut_short()) {  // libspng forgives a missing end
      return DataLoss(
          "{}: byte {}: the PNG ends too early; the file was cut short: copy or download it again",
          name_, bytes_.size());
    }
    switch (code) {
      case SPNG_OK: return OkStatus();
      case SPNG_EMEM:
        return ResourceExhausted(
            "{}: no memory to decode this PNG; free some, or decode fewer at a time", name_);
      case SPNG_ESIGNATURE:
        return DataLoss(
            "{}: byte 0: not a PNG, which begins with 89 50 4e 47 0d 0a 1a 0a; check the path",
            name_);
      default:
        return DataLoss("{}: before byte {}: {}; the PNG is damaged: copy or download it again",
                        name_, stream_.at(), spng_strerror(code));
    }
  }

  spng_ctx* context() const { return context_.get(); }
  const spng_ihdr& header() const { return header_; }
  bool grey() const {
    return header_.color_type == SPNG_COLOR_TYPE_GRAYSCALE ||
           header_.color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA;
  }

 private:
  static int Read(spng_ctx* /*context*/, void* user, void* to, size_t length) {
    auto* file = static_cast<PngFile*>(user);
    return file->stream_.Read(static_cast<std::byte*>(to), length) ? 0 : SPNG_IO_EOF;
  }

  int64_t SamplesPerPixel() const {
    switch (header_.color_type) {
      case SPNG_COLOR_TYPE_TRUECOLOR: return 3;
      case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA: return 2;
      case SPNG_COLOR_TYPE_TRUECOLOR_ALPHA: return 4;
      default: return 1;  // greyscale and palette
    }
  }

  // For a size that libspng itself does not accept; the header is at byte 16.
  Status CheckAnnounced(const ImageLimits& limits) const {
    const auto side = [&](size_t at) {
      int64_t value = 0;
      for (const std::byte byte : bytes_.subspan(at, 4))
        value = value << 8 | std::to_integer<int64_t>(byte);
      return value;
    };
    return bytes_.size() < 24 ? OkStatus() : CheckPixels(name_, side(16), side(20), limits);
  }

  // A header is believed only where the limit allows it and the file is long enough to hold so many
  // pixels.
  Status CheckSize(const ImageLimits& limits) const {
    STOKER_RETURN_IF_ERROR(CheckPixels(name_, header_.width, header_.height, limits));
    const int64_t pixels = int64_t{header_.width} * header_.height;  // below 2^62
    const int64_t packed = pixels * SamplesPerPixel() * header_.bit_depth / 8;
    if (packed / kMaxDeflateRatio <= static_cast<int64_t>(bytes_.size())) return OkStatus();
    return DataLoss(
        "{}: byte 16: {} x {} pixels announced, too many for a file of {} bytes; it was cut short: "
        "copy or download it again",
        name_, header_.width, header_.height, bytes_.size());
  }

  const std::span<const std::byte> bytes_;
  const std::string_view name_;
  PngStream stream_;
  const std::unique_ptr<spng_ctx, FreeContext> context_;
  spng_ihdr header_ = {};
};

bool WantsIndices(const DecodeOptions& options) {
  return options.channels == ImageChannels::kIndex || options.channels == ImageChannels::kIndex16;
}

// Makes the pixels of one row, of a region, from the row that libspng gives.
class RowMaker {
 public:
  // `layout` is of no meaning where the options want indices.
  RowMaker(const ImageInfo& info, const ImageRegion& region, PixelLayout layout,
           const DecodeOptions& options)
      : info_(info), region_(region), layout_(layout), options_(options) {}

  // In bytes, of a whole row of libspng's.
  size_t row_bytes() const {
    const auto width = static_cast<size_t>(info_.stored_width());
    if (WantsIndices(options_)) return (width * static_cast<size_t>(info_.bits) + 7) / 8;
    return width * static_cast<size_t>(BytesPerPixel(layout_));
  }

  void Make(const uint8_t* row, uint8_t* out) const {
    if (WantsIndices(options_)) return MakeIndices(row, out);
    ConvertPixels(layout_, row + static_cast<size_t>(region_.x * BytesPerPixel(layout_)),
                  static_cast<size_t>(region_.width), options_.background, info_.channels, out);
  }

 private:
  // Values of less than a byte are packed, the first in the highest bits.
  void MakeIndices(const uint8_t* row, uint8_t* out) const {
    if (info_.bits == 16) {
      std::memcpy(out, row + 2 * region_.x, static_cast<size_t>(2 * region_.width));
      return;
    }
    const int64_t mask = (1 << info_.bits) - 1;
    for (int64_t x = region_.x; x < region_.x + region_.width; ++x, out += info_.value_bytes) {
      const int64_t bit = x * info_.bits;
      const auto value = static_cast<uint16_t>(row[bit / 8] >> (8 - info_.bits - bit % 8) & mask);
      if (info_.value_bytes == 1) {
        *out = static_cast<uint8_t>(value);
      } else {
        std::memcpy(out, &value, sizeof(value));
      }
    }
  }

  const ImageInfo& info_;
  const ImageRegion& region_;
  const PixelLayout layout_;
  const DecodeOptions& options_;
};

// One row after the other as libspng unpacks them; those above the region are thrown away, those
// below are not unpacked.
Status DecodeInOrder(PngFile& file, const RowMaker& maker, const ImageInfo& info,
                     const ImageRegion& region, const PixelRows& out, DecodeScratch& scratch) {
  auto* const row = reinterpret_cast<uint8_t*>(scratch.Take(maker.row_bytes()));
  StopCounter stop;
  for (int64_t y = 0; y < region.y + region.height; ++y) {
    const int code = spng_decode_row(file.context(), row, maker.row_bytes());
    const bool last = y + 1 == info.stored_height();
    if (code != SPNG_EOI || !last) STOKER_RETURN_IF_ERROR(file.Check(code));
    if (y >= region.y) maker.Make(row, out.row(y - region.y));
    if (stop.Asked(info.stored_width())) return DecodingStopped(file.name());
  }
  return OkStatus();
}

// The seven passes of an interlaced picture go into a whole one.
Status DecodeInterlaced(PngFile& file, const RowMaker& maker, const ImageInfo& info,
                        const ImageRegion& region, const PixelRows& out, DecodeScratch& scratch) {
  const size_t row_bytes = maker.row_bytes();
  const size_t bytes = row_bytes * static_cast<size_t>(info.stored_height());
  auto* const rows = reinterpret_cast<uint8_t*>(scratch.Take(bytes));
  std::memset(rows, 0, bytes);  // packed values are added to it bit by bit
  spng_row_info row_info = {};
  int code = SPNG_OK;
  StopCounter stop;
  while (code == SPNG_OK) {
    if (stop.Asked(info.stored_width())) return DecodingStopped(file.name());
    code = spng_get_row_info(file.context(), &row_info);
    if (code == SPNG_OK)
      code = spng_decode_row(file.context(), rows + row_info.row_num * row_bytes, row_bytes);
  }
  if (code != SPNG_EOI) STOKER_RETURN_IF_ERROR(file.Check(code));
  for (int64_t y = 0; y < region.height; ++y)
    maker.Make(rows + static_cast<size_t>(region.y + y) * row_bytes, out.row(y));
  return OkStatus();
}

// How libspng is asked for rows.
struct RowFormat {
  PixelLayout layout;
  int format;
  int flags;
};
RowFormat FormatFor(const ImageInfo& info, const DecodeOptions& options) {
  if (WantsIndices(options)) return {PixelLayout::kGrey, SPNG_FMT_PNG, 0};
  if (info.alpha && options.background)
    return {PixelLayout::kRgba, SPNG_FMT_RGBA8, SPNG_DECODE_TRNS};
  return {PixelLayout::kRgb, SPNG_FMT_RGB8, 0};
}

Status CheckHasIndices(std::string_view name, const spng_ihdr& header,
                       const DecodeOptions& options) {
  if (header.color_type != SPNG_COLOR_TYPE_GRAYSCALE &&
      header.color_type != SPNG_COLOR_TYPE_INDEXED) {
    return InvalidArgument(
        "{}: byte 25: a PNG of colour type {}; values as they are stored (classes of a mask) are "
        "those of a palette (3) or of grey (0): convert it, or decode it as grey",
        name, header.color_type);
  }
  if (header.bit_depth == 16 && options.channels == ImageChannels::kIndex) {
    return InvalidArgument(
        "{}: byte 24: a PNG of 16 bits; one byte holds 8: decode it with channels: index16", name);
  }
  return OkStatus();
}

}  // namespace

Result<ImageInfo> ProbePng(const EncodedImage& image, const DecodeOptions& options) {
  PngFile file(image);
  STOKER_RETURN_IF_ERROR(file.Open(options.limits));
  const spng_ihdr& header = file.header();
  if (WantsIndices(options)) STOKER_RETURN_IF_ERROR(CheckHasIndices(image.name, header, options));
  ImageInfo info{.format = ImageFormat::kPng,
                 .height = header.height,
                 .width = header.width,
                 .channels = DeliveredChannels(options, file.grey()),
                 .value_bytes = options.channels == ImageChannels::kIndex16 ? 2 : 1,
                 .bits = header.bit_depth};
  // The chunks before the pixels; one that is missing leaves things as they are.
  spng_trns transparency;
  const int code = spng_get_trns(file.context(), &transparency);
  if (code != SPNG_ECHUNKAVAIL) STOKER_RETURN_IF_ERROR(file.Check(code));
  info.alpha = code == SPNG_OK || header.color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA ||
               header.color_type == SPNG_COLOR_TYPE_TRUECOLOR_ALPHA;
  spng_exif exif;
  if (spng_get_exif(file.context(), &exif) == SPNG_OK)
    info.orientation = ExifOrientation(std::as_bytes(std::span(exif.data, exif.length)));
  return info;
}

Status DecodePngRegion(const EncodedImage& image, const ImageInfo& info, const ImageRegion& region,
                       const DecodeOptions& options, const PixelRows& out, DecodeScratch& scratch) {
  PngFile file(image);
  STOKER_RETURN_IF_ERROR(file.Open(options.limits));
  STOKER_RETURN_IF_ERROR(
      CheckIsAsProbed(image.name, info, file.header().width, file.header().height));
  const RowFormat format = FormatFor(info, options);
  STOKER_RETURN_IF_ERROR(file.Check(spng_decode_image(file.context(), nullptr, 0, format.format,
                                                      SPNG_DECODE_PROGRESSIVE | format.flags)));
  const RowMaker maker(info, region, format.layout, options);
  const bool in_order = file.header().interlace_method == 0;
  STOKER_RETURN_IF_ERROR(
      (in_order ? DecodeInOrder : DecodeInterlaced)(file, maker, info, region, out, scratch));
  if (region.y + region.height < info.stored_height()) return OkStatus();
  // What follows the pixels, so that a file without its end is noticed.
  return file.Check(spng_decode_chunks(file.context()));
}

Result<Array> DecodePng(std::span<const std::byte> png, std::string_view name,
                        const ImageLimits& limits) {
  return DecodePlanes({png, name}, limits, ProbePng, DecodePngRegion);
}

}  // namespace stoker
