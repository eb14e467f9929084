// DetectImageFormat of decode.h.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "stoker/image/decode.h"

namespace stoker {
namespace {

constexpr std::string_view kReads = "Stoker reads JPEG, PNG, BMP, WebP and PNM";

struct KnownFormat {
  std::string_view bytes;
  ImageFormat format;
};
constexpr KnownFormat kKnown[] = {
    {"\xff\xd8", ImageFormat::kJpeg}, {"\x89PNG", ImageFormat::kPng}, {"BM", ImageFormat::kBmp},
    {"P1", ImageFormat::kPnm},        {"P2", ImageFormat::kPnm},      {"P3", ImageFormat::kPnm},
    {"P4", ImageFormat::kPnm},        {"P5", ImageFormat::kPnm},      {"P6", ImageFormat::kPnm},
};

using namespace std::string_view_literals;  // NOLINT: for texts with zero bytes

// What people keep among their pictures; the place says where the text stands in the file.
struct ForeignFormat {
  size_t at;
  std::string_view bytes;
  std::string_view is;
};
constexpr ForeignFormat kForeign[] = {
    {0, "GIF8"sv, "a GIF picture"},
    {0, "II*\0"sv, "a TIFF picture"},
    {0, "MM\0*"sv, "a TIFF picture"},
    {0, "II+\0"sv, "a BigTIFF picture"},
    {0, "MM\0+"sv, "a BigTIFF picture"},
    {4, "ftypavif"sv, "an AVIF picture"},
    {4, "ftypavis"sv, "an AVIF animation"},
    {4, "ftyphei"sv, "a HEIC picture"},
    {4, "ftyphev"sv, "a HEIC picture"},
    {4, "ftypmif1"sv, "a HEIF picture"},
    {4, "ftyp"sv, "an MP4 or QuickTime file"},
    {0, "\0\0\0\x0cjP  "sv, "a JPEG 2000 picture"},
    {0, "\xff\x4f\xff\x51"sv, "a JPEG 2000 codestream"},
    {0, "\0\0\0\x0cJXL "sv, "a JPEG XL picture"},
    {0, "\xff\x0a"sv, "a JPEG XL codestream"},
    {0, "P7"sv, "a PAM picture"},
    {0, "PF"sv, "a PFM picture"},
    {0, "Pf"sv, "a PFM picture"},
    {0, "qoif"sv, "a QOI picture"},
    {0, "8BPS"sv, "a Photoshop document"},
    {0, "\0\0\1\0"sv, "a Windows icon"},
    {0, "\0\0\2\0"sv, "a Windows cursor"},
    {0, "\x76\x2f\x31\x01"sv, "an OpenEXR picture"},
    {0, "#?RADIANCE"sv, "a Radiance HDR picture"},
    {0, "DDS "sv, "a DirectDraw surface"},
    {0, "/* XPM */"sv, "an XPM picture"},
    {0, "<svg"sv, "an SVG drawing"},
    {0, "<?xml"sv, "an XML file, perhaps an SVG drawing"},
    {0, "%PDF"sv, "a PDF document"},
    {0, "<!DOCTYPE"sv, "an HTML page, as a failed download leaves"},
    {0, "<html"sv, "an HTML page, as a failed download leaves"},
    {0, "\x1f\x8b"sv, "gzip-compressed data"},
    {0, "\x28\xb5\x2f\xfd"sv, "zstd-compressed data"},
    {0,
     "\xfd"
     "7zXZ\0"sv,
     "xz-compressed data"},
    {4, "\x31\x41\x59\x26\x53\x59"sv, "bzip2-compressed data"},
    {0, "PK\3\4"sv, "a ZIP archive"},
};

bool HasAt(std::string_view text, size_t at, std::string_view bytes) {
  return text.size() >= at && text.substr(at, bytes.size()) == bytes;
}

}  // namespace

std::string_view ImageFormatName(ImageFormat format) {
  switch (format) {
    case ImageFormat::kJpeg: return "JPEG";
    case ImageFormat::kPng: return "PNG";
    case ImageFormat::kBmp: return "BMP";
    case ImageFormat::kWebp: return "WebP";
    case ImageFormat::kPnm: return "PNM";
  }
  return "";
}

Result<ImageFormat> DetectImageFormat(std::span<const std::byte> bytes, std::string_view name) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.empty())
    return DataLoss("{}: byte 0: the file is empty; copy or download it again", name);
  for (const KnownFormat& known : kKnown) {
    if (HasAt(text, 0, known.bytes)) return known.format;
  }
  if (HasAt(text, 0, "RIFF") && HasAt(text, 8, "WEBP")) return ImageFormat::kWebp;
  for (const ForeignFormat& foreign : kForeign) {
    if (HasAt(text, foreign.at, foreign.bytes))
      return Unimplemented("{}: {}; {}: convert it, or leave it out", name, foreign.is, kReads);
  }
  std::string first;
  for (const std::byte byte : bytes.first(std::min<size_t>(8, bytes.size())))
    fmt::format_to(std::back_inserter(first), "{}{:02x}", first.empty() ? "" : " ",
                   std::to_integer<int>(byte));
  return DataLoss("{}: byte 0: no picture that is known begins with {}; {}: check the path", name,
                  first, kReads);
}

}  // namespace stoker
