#include "stoker/image/pnm.h"

#include <bit>
#include <cstdint>
#include <cstring>

#include "stoker/base/stop_counter.h"
#include "stoker/image/planes.h"

namespace stoker {
namespace {

struct Header {
  int64_t channels = 0;
  int64_t width = 0;
  int64_t height = 0;
  int64_t max_value = 0;
  size_t size = 0;  // bytes up to the first sample

  int64_t sample_bytes() const { return max_value < 256 ? 1 : 2; }
};

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

class PnmHeaderReader {
 public:
  PnmHeaderReader(std::span<const std::byte> file, std::string_view name)
      : text_(reinterpret_cast<const char*>(file.data()), file.size()), name_(name) {}

  Result<Header> Read() {
    Header header;
    STOKER_ASSIGN_OR_RETURN(header.channels, ReadMagic());
    STOKER_ASSIGN_OR_RETURN(header.width, ReadNumber("width", 1, INT32_MAX));
    STOKER_ASSIGN_OR_RETURN(header.height, ReadNumber("height", 1, INT32_MAX));
    STOKER_ASSIGN_OR_RETURN(header.max_value, ReadNumber("maxval", 1, 65535));
    if (at_ == text_.size() || !IsSpace(text_[at_])) {
      return DataLoss(
          "{}: byte {}: one white space must follow maxval; the file is damaged or cut short: copy "
          "or download it again",
          name_, at_);
    }
    header.size = at_ + 1;
    return header;
  }

 private:
  Result<int64_t> ReadMagic() {
    const std::string_view magic = text_.substr(0, 2);
    at_ = magic.size();
    if (magic == "P5") return 1;
    if (magic == "P6") return 3;
    if (magic.size() == 2 && magic[0] == 'P' && magic[1] >= '1' && magic[1] <= '4') {
      return Unimplemented("{}: byte 0: {} is a text or bitmap form of PNM; convert it to P5 or P6",
                           name_, magic);
    }
    return DataLoss(
        "{}: byte 0: not a PGM or PPM picture, which begins with P5 or P6; check the path", name_);
  }

  // White space and comments, which reach from '#' to the end of the line.
  void SkipSpace() {
    bool comment = false;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '#') comment = true;
      if (text_[at_] == '\n' || text_[at_] == '\r') comment = false;
      if (!comment && !IsSpace(text_[at_])) return;
    }
  }

  Result<int64_t> ReadNumber(std::string_view what, int64_t low, int64_t high) {
    const size_t before = at_;
    SkipSpace();
    const size_t begin = at_;
    int64_t number = 0;
    for (; at_ < text_.size() && IsDigit(text_[at_]) && number <= high; ++at_)
      number = number * 10 + (text_[at_] - '0');
    if (begin == before || at_ == begin) {
      return DataLoss(
          "{}: byte {}: {} expected; the header is damaged or cut short: copy or download the file "
          "again",
          name_, begin, what);
    }
    if (number < low || number > high) {
      return DataLoss(
          "{}: byte {}: {} must be {}..{}; the header is damaged: copy or download the file again",
          name_, begin, what, low, high);
    }
    return number;
  }

  const std::string_view text_;
  const std::string_view name_;
  size_t at_ = 0;
};

// n samples scaled to bytes; how many of them are good: less than n where one is above maxval.
int64_t ScaleSamples(const Header& header, const std::byte* samples, int64_t n, uint8_t* out) {
  if (header.max_value == 255) {  // as nearly all files
    std::memcpy(out, samples, static_cast<size_t>(n));
    return n;
  }
  const bool wide = header.sample_bytes() == 2;
  for (int64_t i = 0; i < n; ++i) {
    int64_t sample = std::to_integer<int64_t>(samples[wide ? 2 * i : i]);
    if (wide) sample = sample << 8 | std::to_integer<int64_t>(samples[2 * i + 1]);  // big-endian
    if (sample > header.max_value) return i;
    out[i] = static_cast<uint8_t>((sample * 255 + header.max_value / 2) / header.max_value);
  }
  return n;
}

Status CheckLength(const Header& header, const EncodedImage& image) {
  const int64_t wanted = header.height * header.width * header.channels * header.sample_bytes();
  const int64_t found = static_cast<int64_t>(image.bytes.size() - header.size);
  if (found >= wanted) return OkStatus();
  return DataLoss(
      "{}: byte {}: the file ends, but {} x {} pixels need {} more bytes; it was cut short: copy "
      "or download it again",
      image.name, image.bytes.size(), header.width, header.height, wanted - found);
}

}  // namespace

Result<ImageInfo> ProbePnm(const EncodedImage& image, const DecodeOptions& options) {
  STOKER_ASSIGN_OR_RETURN(const Header header, PnmHeaderReader(image.bytes, image.name).Read());
  STOKER_RETURN_IF_ERROR(CheckPixels(image.name, header.width, header.height, options.limits));
  STOKER_RETURN_IF_ERROR(CheckLength(header, image));
  return ImageInfo{
      .format = ImageFormat::kPnm,
      .height = header.height,
      .width = header.width,
      .channels = DeliveredChannels(options, header.channels == 1),
      .bits = static_cast<int>(std::bit_width(static_cast<uint64_t>(header.max_value)))};
}

Status DecodePnmRegion(const EncodedImage& image, const ImageInfo& info, const ImageRegion& region,
                       const DecodeOptions& /*options*/, const PixelRows& out,
                       DecodeScratch& scratch) {
  STOKER_ASSIGN_OR_RETURN(const Header header, PnmHeaderReader(image.bytes, image.name).Read());
  STOKER_RETURN_IF_ERROR(CheckIsAsProbed(image.name, info, header.width, header.height));
  STOKER_RETURN_IF_ERROR(CheckLength(header, image));
  const int64_t row_samples = region.width * header.channels;
  auto* const row = reinterpret_cast<uint8_t*>(scratch.Take(static_cast<size_t>(row_samples)));
  StopCounter stop;
  for (int64_t y = 0; y < region.height; ++y) {
    if (stop.Asked(region.width)) return DecodingStopped(image.name);
    const int64_t first = ((region.y + y) * header.width + region.x) * header.channels;
    const int64_t at = static_cast<int64_t>(header.size) + first * header.sample_bytes();
    const int64_t good = ScaleSamples(header, image.bytes.data() + at, row_samples, row);
    if (good < row_samples) {
      return DataLoss(
          "{}: byte {}: a sample is above maxval {}; the file is damaged: copy or download it "
          "again",
          image.name, at + good * header.sample_bytes(), header.max_value);
    }
    ConvertPixels(header.channels == 1 ? PixelLayout::kGrey : PixelLayout::kRgb, row,
                  static_cast<size_t>(region.width), std::nullopt, info.channels, out.row(y));
  }
  return OkStatus();
}

Result<Array> DecodePnm(std::span<const std::byte> pnm, std::string_view name,
                        const ImageLimits& limits) {
  return DecodePlanes({pnm, name}, limits, ProbePnm, DecodePnmRegion);
}

}  // namespace stoker
