#include "stoker/image/png.h"

#include <spng.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace stoker {
namespace {

// Texts and profiles, which libspng unpacks along the way.
constexpr size_t kMaxMetadataBytes = 64 << 20;
constexpr int64_t kMaxDeflateRatio = 1032;  // zlib.net/zlib_tech.html

struct FreeContext {
  void operator()(spng_ctx* context) const { spng_ctx_free(context); }
};

// Feeds libspng and knows how far it has read, which libspng does not tell.
class PngFile {
 public:
  PngFile(std::span<const std::byte> bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  static int Read(spng_ctx* /*context*/, void* user, void* to, size_t length) {
    auto* file = static_cast<PngFile*>(user);
    if (length > file->bytes_.size() - file->at_) {
      file->at_ = file->bytes_.size();
      file->cut_short_ = true;
      return SPNG_IO_EOF;
    }
    std::memcpy(to, file->bytes_.data() + file->at_, length);
    file->at_ += length;
    return 0;
  }

  // The status of a call that returned `code`.
  Status Check(int code) const {
    if (cut_short_) {  // libspng forgives a missing end
      return DataLoss(
          "{}: byte {}: the PNG ends too early; the file was cut short: copy or download it again",
          name_, at_);
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
                        name_, at_, spng_strerror(code));
    }
  }

  size_t size() const { return bytes_.size(); }
  std::string_view name() const { return name_; }

 private:
  const std::span<const std::byte> bytes_;
  const std::string_view name_;
  size_t at_ = 0;
  bool cut_short_ = false;
};

int64_t SamplesPerPixel(const spng_ihdr& header) {
  switch (header.color_type) {
    case SPNG_COLOR_TYPE_TRUECOLOR: return 3;
    case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA: return 2;
    case SPNG_COLOR_TYPE_TRUECOLOR_ALPHA: return 4;
    default: return 1;  // greyscale and palette
  }
}

// A header is believed only where the limit allows it and the file is long enough to hold so many
// pixels.
Status CheckSize(const spng_ihdr& header, const PngFile& file, const ImageLimits& limits) {
  const int64_t pixels = int64_t{header.width} * header.height;  // below 2^62
  if (pixels > limits.max_pixels) {
    return InvalidArgument(
        "{}: {} x {} pixels are more than the {} allowed; scale the picture down", file.name(),
        header.width, header.height, limits.max_pixels);
  }
  const int64_t packed = pixels * SamplesPerPixel(header) * header.bit_depth / 8;
  if (packed / kMaxDeflateRatio > static_cast<int64_t>(file.size())) {
    return DataLoss(
        "{}: byte 16: {} x {} pixels announced, too many for a file of {} bytes; it was cut short: "
        "copy or download it again",
        file.name(), header.width, header.height, file.size());
  }
  return OkStatus();
}

// Pixel after pixel to plane after plane.
Array Planes(const std::vector<uint8_t>& rgb, const spng_ihdr& header) {
  const bool grey = header.color_type == SPNG_COLOR_TYPE_GRAYSCALE ||
                    header.color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA;
  const size_t channels = grey ? 1 : 3;  // of grey pictures R, G and B are equal
  const size_t pixels = rgb.size() / 3;
  Array image =
      Array::Allocate(DType::kUInt8, {static_cast<int64_t>(channels), header.height, header.width});
  uint8_t* out = image.values<uint8_t>().data();
  for (size_t channel = 0; channel < channels; ++channel) {
    for (size_t pixel = 0; pixel < pixels; ++pixel) *out++ = rgb[pixel * 3 + channel];
  }
  return image;
}

}  // namespace

Result<Array> DecodePng(std::span<const std::byte> png, std::string_view name,
                        const ImageLimits& limits) {
  PngFile file(png, name);
  const std::unique_ptr<spng_ctx, FreeContext> context(spng_ctx_new(0));
  if (!context)
    return ResourceExhausted(
        "{}: no memory to decode this PNG; free some, or decode fewer at a time", name);
  // No chunk that is whole is larger than the file.
  STOKER_RETURN_IF_ERROR(file.Check(spng_set_chunk_limits(
      context.get(), std::min<size_t>(png.size(), INT32_MAX), kMaxMetadataBytes)));
  STOKER_RETURN_IF_ERROR(file.Check(spng_set_png_stream(context.get(), PngFile::Read, &file)));
  spng_ihdr header;
  STOKER_RETURN_IF_ERROR(file.Check(spng_get_ihdr(context.get(), &header)));
  STOKER_RETURN_IF_ERROR(CheckSize(header, file, limits));
  std::vector<uint8_t> rgb(size_t{3} * header.width * header.height);
  STOKER_RETURN_IF_ERROR(
      file.Check(spng_decode_image(context.get(), rgb.data(), rgb.size(), SPNG_FMT_RGB8, 0)));
  // What follows the pixels, so that a file without its end is noticed.
  STOKER_RETURN_IF_ERROR(file.Check(spng_decode_chunks(context.get())));
  return Planes(rgb, header);
}

}  // namespace stoker
