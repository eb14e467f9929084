#include "stoker/image/jpeg_header.h"

#include "stoker/image/exif.h"

namespace stoker {
namespace {

// Markers, by their second byte (T.81, table B.1).
constexpr uint8_t kSof0 = 0xc0, kSof2 = 0xc2, kSof15 = 0xcf, kDht = 0xc4, kJpg = 0xc8, kDac = 0xcc,
                  kRst0 = 0xd0, kSoi = 0xd8, kEoi = 0xd9, kSos = 0xda, kSof55 = 0xf7, kApp1 = 0xe1,
                  kTem = 0x01;

bool IsFrame(uint8_t marker) {
  return (marker >= kSof0 && marker <= kSof15 && marker != kDht && marker != kJpg &&
          marker != kDac) ||
         marker == kSof55;
}

// Why a frame cannot be decoded; empty for those that can.
std::string_view WhyNot(uint8_t frame) {
  switch (frame) {
    case 0xc0:
    case 0xc1:
    case 0xc2: return "";
    case 0xc3: return "lossless coding (SOF3)";
    case 0xc5:
    case 0xc6:
    case 0xc7: return "hierarchical coding (SOF5 to SOF7)";
    case kSof55: return "JPEG-LS (SOF55)";
    default: return "arithmetic coding (SOF9 to SOF15)";
  }
}

class JpegHeaderReader {
 public:
  explicit JpegHeaderReader(const EncodedImage& jpeg) : jpeg_(jpeg) {}

  Result<JpegHeader> Read() {
    bool framed = false, exif = false;
    at_ = 2;  // SOI, which told the format
    while (true) {
      STOKER_ASSIGN_OR_RETURN(const uint8_t marker, NextMarker());
      if (marker == kSos) break;
      if (marker == kEoi) return Damaged("the picture ends (EOI) before its first scan");
      if (marker == kTem || (marker >= kRst0 && marker <= kSoi)) continue;  // no segment
      STOKER_ASSIGN_OR_RETURN(const std::span<const std::byte> segment, ReadSegment());
      if (IsFrame(marker)) {
        if (framed) return Damaged("a second frame header");
        STOKER_RETURN_IF_ERROR(ReadFrame(marker, segment));
        framed = true;
      } else if (marker == kApp1 && !exif) {
        exif = ReadExif(segment);
      }
    }
    if (!framed) return Damaged("a scan (SOS) before the frame header");
    header_.scan_byte = marker_at_;
    return header_;
  }

 private:
  // Fill bytes (more 0xff) and, as libjpeg does, anything else before a marker are skipped.
  Result<uint8_t> NextMarker() {
    const auto& bytes = jpeg_.bytes;
    while (at_ + 1 < bytes.size()) {
      if (bytes[at_] == std::byte{0xff} && bytes[at_ + 1] != std::byte{0xff} &&
          bytes[at_ + 1] != std::byte{0}) {
        marker_at_ = at_;
        at_ += 2;
        return std::to_integer<uint8_t>(bytes[marker_at_ + 1]);
      }
      ++at_;
    }
    return CutShort();
  }

  // What follows the marker's length.
  Result<std::span<const std::byte>> ReadSegment() {
    if (jpeg_.bytes.size() - at_ < 2) return CutShort();
    const size_t length = Number16(jpeg_.bytes.subspan(at_));
    if (length < 2) return Damaged("a segment of less than 2 bytes");
    if (jpeg_.bytes.size() - at_ < length) return CutShort();
    const auto segment = jpeg_.bytes.subspan(at_ + 2, length - 2);
    at_ += length;
    return segment;
  }

  Status ReadFrame(uint8_t marker, std::span<const std::byte> segment) {
    if (const std::string_view why = WhyNot(marker); !why.empty()) return Refused(why);
    if (segment.size() < 6) return Damaged("a frame header of less than 8 bytes");
    const int bits = std::to_integer<int>(segment[0]);
    if (bits == 12) return Refused("12 bits a sample");
    if (bits != 8) return Damaged(fmt::format("{} bits a sample", bits));
    header_.progressive = marker == kSof2;
    header_.height = static_cast<int64_t>(Number16(segment.subspan(1)));
    header_.width = static_cast<int64_t>(Number16(segment.subspan(3)));
    header_.num_components = std::to_integer<int>(segment[5]);
    if (header_.width == 0) return Damaged("a picture of width 0");
    if (header_.height == 0) return Refused("a height that follows the first scan (DNL)");
    return ReadComponents(segment.subspan(6));
  }

  Status ReadComponents(std::span<const std::byte> bytes) {
    const int n = header_.num_components;
    if (bytes.size() != 3 * static_cast<size_t>(n)) {
      return Damaged(
          fmt::format("a frame header of {} bytes for {} components", bytes.size() + 8, n));
    }
    if (n != 1 && n != 3 && n != 4)
      return Refused(fmt::format("{} components (not grey, YCbCr, RGB, CMYK or YCCK)", n));
    for (int i = 0; i < n; ++i, bytes = bytes.subspan(3)) {
      const auto factors = std::to_integer<uint8_t>(bytes[1]);
      header_.components[i] = {.id = std::to_integer<uint8_t>(bytes[0]),
                               .h = static_cast<uint8_t>(factors >> 4),
                               .v = static_cast<uint8_t>(factors & 15),
                               .quantization_table = std::to_integer<uint8_t>(bytes[2])};
      const JpegComponent& component = header_.components[i];
      if (component.h < 1 || component.h > 4 || component.v < 1 || component.v > 4) {
        return Damaged(fmt::format("sampling factors {} x {}", component.h, component.v));
      }
    }
    return OkStatus();
  }

  // True if the segment is EXIF: the first counts.
  bool ReadExif(std::span<const std::byte> segment) {
    constexpr std::string_view kExif("Exif\0\0", 6);
    const std::string_view text(reinterpret_cast<const char*>(segment.data()), segment.size());
    if (!text.starts_with(kExif)) return false;
    header_.orientation = ExifOrientation(segment.subspan(kExif.size()));
    return true;
  }

  static size_t Number16(std::span<const std::byte> bytes) {
    return std::to_integer<size_t>(bytes[0]) << 8 | std::to_integer<size_t>(bytes[1]);
  }

  Status CutShort() const {
    return DataLoss(
        "{}: byte {}: the JPEG ends before its first scan; the file was cut short: copy or "
        "download it again",
        jpeg_.name, jpeg_.bytes.size());
  }
  Status Damaged(std::string_view what) const {
    return DataLoss("{}: byte {}: {}; the JPEG is damaged: copy or download it again", jpeg_.name,
                    marker_at_, what);
  }
  Status Refused(std::string_view what) const {
    return Unimplemented(
        "{}: byte {}: a JPEG with {}; Stoker reads baseline and progressive ones of 8 bits: "
        "convert it",
        jpeg_.name, marker_at_, what);
  }

  const EncodedImage& jpeg_;
  JpegHeader header_;
  size_t at_ = 0;
  size_t marker_at_ = 0;
};

}  // namespace

Result<JpegHeader> ReadJpegHeader(const EncodedImage& jpeg) {
  return JpegHeaderReader(jpeg).Read();
}

}  // namespace stoker
