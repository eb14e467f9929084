#include "stoker/image/pnm.h"

#include <cstdint>

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

class HeaderReader {
 public:
  HeaderReader(std::span<const std::byte> file, std::string_view name)
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

int64_t SampleAt(const std::byte* samples, int64_t i, int64_t sample_bytes) {
  if (sample_bytes == 1) return static_cast<int64_t>(samples[i]);
  return static_cast<int64_t>(samples[2 * i]) << 8 |
         static_cast<int64_t>(samples[2 * i + 1]);  // big-endian
}

// Files hold pixel after pixel, arrays plane after plane.
Result<Array> ReadSamples(const Header& header, const std::byte* samples, std::string_view name) {
  const int64_t pixels = header.height * header.width;
  Array image = Array::Allocate(DType::kUInt8, {header.channels, header.height, header.width});
  uint8_t* out = image.values<uint8_t>().data();
  for (int64_t pixel = 0; pixel < pixels; ++pixel) {
    for (int64_t channel = 0; channel < header.channels; ++channel) {
      const int64_t i = pixel * header.channels + channel;
      const int64_t sample = SampleAt(samples, i, header.sample_bytes());
      if (sample > header.max_value) {
        return DataLoss(
            "{}: byte {}: sample {} is above maxval {}; the file is damaged: copy or download it "
            "again",
            name, header.size + static_cast<size_t>(i * header.sample_bytes()), sample,
            header.max_value);
      }
      out[channel * pixels + pixel] =
          static_cast<uint8_t>((sample * 255 + header.max_value / 2) / header.max_value);
    }
  }
  return image;
}

}  // namespace

Result<Array> DecodePnm(std::span<const std::byte> pnm, std::string_view name,
                        const ImageLimits& limits) {
  STOKER_ASSIGN_OR_RETURN(const Header header, HeaderReader(pnm, name).Read());
  if (header.height > limits.max_pixels / header.width) {
    return InvalidArgument(
        "{}: {} x {} pixels are more than the {} allowed; scale the picture down", name,
        header.width, header.height, limits.max_pixels);
  }
  const int64_t wanted = header.height * header.width * header.channels * header.sample_bytes();
  const int64_t found = static_cast<int64_t>(pnm.size() - header.size);
  if (found < wanted) {
    return DataLoss(
        "{}: byte {}: the file ends, but {} x {} pixels need {} more bytes; it was cut short: copy "
        "or download it again",
        name, pnm.size(), header.width, header.height, wanted - found);
  }
  return ReadSamples(header, pnm.data() + header.size, name);
}

}  // namespace stoker
