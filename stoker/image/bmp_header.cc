#include "stoker/image/bmp_header.h"

#include <algorithm>
#include <bit>

namespace stoker {
namespace {

constexpr size_t kFileHeader = 14;     // bytes: BITMAPFILEHEADER
constexpr size_t kPixelsAt = 10;       // the field of where the pixels begin
constexpr uint32_t kCoreHeader = 12;   // BITMAPCOREHEADER, of OS/2 1.x
constexpr uint32_t kInfoHeader = 40;   // BITMAPINFOHEADER; later ones are longer and begin like it
constexpr uint32_t kAlphaHeader = 56;  // from here on there is a mask for alpha
constexpr uint32_t kLongestHeader = 124;  // BITMAPV5HEADER

enum Compression : uint32_t { kRgb = 0, kRle8 = 1, kRle4 = 2, kBitFields = 3, kAlphaBitFields = 6 };

class BmpHeaderReader {
 public:
  BmpHeaderReader(const EncodedImage& bmp, const ImageLimits& limits)
      : bmp_(bmp), limits_(limits) {}

  Result<BmpHeader> Read() {
    STOKER_RETURN_IF_ERROR(Need(kFileHeader, 4));
    header_.pixels_at = static_cast<int64_t>(Number(kPixelsAt, 4));
    header_size_ = static_cast<uint32_t>(Number(kFileHeader, 4));
    if (header_size_ != kCoreHeader &&
        (header_size_ < kInfoHeader || header_size_ > kLongestHeader)) {
      return Damaged(kFileHeader,
                     fmt::format("an information header of {} bytes (12 and 40 to 124 are known)",
                                 header_size_));
    }
    STOKER_RETURN_IF_ERROR(Need(kFileHeader, header_size_));
    STOKER_RETURN_IF_ERROR(header_size_ == kCoreHeader ? ReadCore() : ReadInfo());
    STOKER_RETURN_IF_ERROR(CheckExtents());
    if (header_.bits <= 8) STOKER_RETURN_IF_ERROR(ReadPalette());
    STOKER_RETURN_IF_ERROR(CheckPixelData());
    return header_;
  }

 private:
  Status ReadCore() {
    header_.width = static_cast<int64_t>(Number(18, 2));
    header_.height = static_cast<int64_t>(Number(20, 2));
    header_.bits = static_cast<int>(Number(24, 2));
    palette_at_ = kFileHeader + kCoreHeader;
    return CheckCoding(kRgb);
  }

  Status ReadInfo() {
    header_.width = static_cast<int32_t>(Number(18, 4));
    header_.height = static_cast<int32_t>(Number(22, 4));
    header_.top_down = header_.height < 0;
    if (header_.top_down) header_.height = -header_.height;
    header_.bits = static_cast<int>(Number(28, 2));
    colours_used_ = Number(46, 4);
    palette_at_ = kFileHeader + header_size_;
    const uint64_t compression = Number(30, 4);
    STOKER_RETURN_IF_ERROR(CheckCoding(compression));
    return compression == kBitFields || compression == kAlphaBitFields
               ? ReadFields(compression == kAlphaBitFields || header_size_ >= kAlphaHeader)
               : OkStatus();
  }

  // What the coding asks of the bits, and the fields of 16 and 32 bits that have no masks.
  Status CheckCoding(uint64_t compression) {
    const int bits = header_.bits;
    switch (compression) {
      case kRgb: break;
      case kRle8: header_.coding = BmpCoding::kRle8; break;
      case kRle4: header_.coding = BmpCoding::kRle4; break;
      case kBitFields:
      case kAlphaBitFields:
        if (bits != 16 && bits != 32 && header_size_ == 64) return Refused("OS/2's Huffman coding");
        if (bits != 16 && bits != 32)
          return Damaged(30, fmt::format("bit fields in pixels of {} bits", bits));
        break;
      case 4: return Refused("a JPEG inside, or OS/2's 24-bit run-length coding");
      case 5: return Refused("a PNG inside");
      case 11:
      case 12:
      case 13: return Refused("CMYK colours");
      default: return Damaged(30, fmt::format("coding {}", compression));
    }
    if (bits != 1 && bits != 2 && bits != 4 && bits != 8 && bits != 16 && bits != 24 && bits != 32)
      return Damaged(28, fmt::format("{} bits a pixel", bits));
    if (header_.coding != BmpCoding::kPlain) {
      if (bits != (header_.coding == BmpCoding::kRle8 ? 8 : 4))
        return Damaged(30,
                       fmt::format("run-length coding {} of {} bits a pixel", compression, bits));
      if (header_.top_down) return Damaged(22, "a run-length coded picture from the top");
    }
    if (bits == 16) header_.fields = {BmpField{10, 5}, {5, 5}, {0, 5}, {}};
    if (bits == 32) header_.fields = {BmpField{16, 8}, {8, 8}, {0, 8}, {}};
    return OkStatus();
  }

  // The masks follow a header of 40 bytes, and are part of longer ones.
  Status ReadFields(bool alpha) {
    constexpr size_t kMasksAt = kFileHeader + kInfoHeader;
    const size_t count = alpha ? 4 : 3;
    STOKER_RETURN_IF_ERROR(Need(kMasksAt, 4 * count));
    for (size_t i = 0; i < count; ++i) {
      const auto mask = static_cast<uint32_t>(Number(kMasksAt + 4 * i, 4));
      const int bits = std::popcount(mask), shift = mask == 0 ? 0 : std::countr_zero(mask);
      const bool fits = shift + bits <= header_.bits;
      if (std::countr_zero(~(mask >> shift)) < bits || !fits)
        return Damaged(kMasksAt + 4 * i, fmt::format("the mask {:#010x} of a channel", mask));
      header_.fields[i] = {shift, bits};
    }
    return OkStatus();
  }

  Status CheckExtents() const {
    if (header_.width < 1 || header_.height < 1)
      return Damaged(18, fmt::format("{} x {} pixels", header_.width, header_.height));
    return CheckPixels(bmp_.name, header_.width, header_.height, limits_);
  }

  // Blue, green, red, and a byte that means nothing but in OS/2 1.x. A palette that reaches into
  // the pixels is shorter than the header says.
  Status ReadPalette() {
    const size_t entry = header_size_ == kCoreHeader ? 3 : 4;
    const uint64_t most = uint64_t{1} << header_.bits;
    uint64_t entries = colours_used_ == 0 ? most : std::min<uint64_t>(colours_used_, most);
    const auto pixels_at = static_cast<uint64_t>(header_.pixels_at);
    entries = std::min<uint64_t>(entries,
                                 pixels_at < palette_at_ ? 0 : (pixels_at - palette_at_) / entry);
    if (entries == 0 && pixels_at >= palette_at_) {
      return Damaged(kPixelsAt,
                     fmt::format("the pixels begin at byte {}, and a palette for {} bits "
                                 "a pixel should precede them from byte {} on: there is "
                                 "none",
                                 pixels_at, header_.bits, palette_at_));
    }
    STOKER_RETURN_IF_ERROR(Need(palette_at_, entries * entry));
    for (size_t i = 0; i < entries; ++i) {
      for (size_t channel = 0; channel < 3; ++channel) {
        header_.palette[i][2 - channel] =
            static_cast<uint8_t>(Number(palette_at_ + i * entry + channel, 1));
      }
    }
    return OkStatus();
  }

  // Plain rows must be there as a whole; only the padding of the last may be missing.
  Status CheckPixelData() const {
    const auto found = static_cast<int64_t>(bmp_.bytes.size());
    const int64_t begin = std::min(header_.pixels_at, found);
    const int64_t wanted =
        header_.coding != BmpCoding::kPlain
            ? 1
            : header_.stride() * (header_.height - 1) + (header_.width * header_.bits + 7) / 8;
    if (header_.pixels_at < static_cast<int64_t>(kFileHeader + header_size_))
      return Damaged(kPixelsAt,
                     fmt::format("pixels from byte {} on, inside the header", header_.pixels_at));
    if (found - begin >= wanted) return OkStatus();
    return DataLoss(
        "{}: byte {}: the file ends, but {} x {} pixels from byte {} on need {} more bytes; it was "
        "cut short: copy or download it again",
        bmp_.name, found, header_.width, header_.height, header_.pixels_at,
        wanted - (found - begin));
  }

  uint64_t Number(size_t at, size_t size) const {
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;)
      value = value << 8 | std::to_integer<uint64_t>(bmp_.bytes[at + i]);
    return value;
  }

  Status Need(size_t at, size_t size) const {
    if (bmp_.bytes.size() >= at && bmp_.bytes.size() - at >= size) return OkStatus();
    return DataLoss(
        "{}: byte {}: the BMP ends inside its header; the file was cut short: copy or download it "
        "again",
        bmp_.name, bmp_.bytes.size());
  }
  Status Damaged(size_t at, std::string_view what) const {
    return DataLoss("{}: byte {}: {}; the BMP is damaged: copy or download it again", bmp_.name, at,
                    what);
  }
  Status Refused(std::string_view what) const {
    return Unimplemented("{}: byte 30: a BMP with {}, which Stoker does not read: convert it",
                         bmp_.name, what);
  }

  const EncodedImage& bmp_;
  const ImageLimits& limits_;
  BmpHeader header_;
  uint32_t header_size_ = 0;
  uint64_t colours_used_ = 0;
  size_t palette_at_ = 0;
};

}  // namespace

Result<BmpHeader> ReadBmpHeader(const EncodedImage& bmp, const ImageLimits& limits) {
  return BmpHeaderReader(bmp, limits).Read();
}

}  // namespace stoker
