#include "stoker/tools/formats/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <span>
#include <string_view>

#include "stoker/base/printable.h"
#include "stoker/formats/probe/file_kind.h"
#include "stoker/image/decode.h"
#include "stoker/io/file.h"
#include "stoker/tools/formats/format_rows.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

constexpr std::string_view kEndings[] = {".png", ".jpg", ".jpeg", ".webp", ".bmp",
                                         ".dib", ".pnm", ".pgm",  ".ppm"};

Result<ImageInfo> ReadHeader(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const Buffer bytes, ReadWholeFile(path));
  return ProbeImage({bytes.data(), bytes.size()}, path);
}

// BMP and PNM begin with two letters, as a text may.
bool MayBePicture(std::string_view start) {
  if (start.starts_with("BM")) return true;
  return start.size() > 2 && (start.starts_with("P5") || start.starts_with("P6")) &&
         std::isspace(static_cast<unsigned char>(start[2])) != 0;
}

Result<Inspection> InspectPicture(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const Buffer bytes, ReadWholeFile(path));
  const std::span<const std::byte> all(bytes.data(), bytes.size());
  STOKER_ASSIGN_OR_RETURN(const ImageFormat format, DetectImageFormat(all, path));
  Inspection out;
  const std::string name = fmt::format("a {} image", ImageFormatName(format));
  out.json = {{"file", path}, {"format", name}, {"bytes", bytes.size()}};
  out.text = fmt::format("{}: {}, {}", Printable(path), name, ByteText(bytes.size()));
  const Result<ImageInfo> info = ProbeImage(all, path, {.channels = ImageChannels::kAsStored});
  out.damage = info.status();
  if (info.ok()) {
    out.json.update(
        {{"height", info->height}, {"width", info->width}, {"channels", info->channels}});
    out.text += fmt::format(", {} x {} pixels (height x width), {}", info->height, info->width,
                            info->channels == 1 ? "grey" : "RGB");
  }
  out.text += '\n';
  return out;
}

}  // namespace

bool IsNamedAsPicture(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::find(kEndings, ending) != std::end(kEndings);
}

bool IsPicture(const std::string& path) {
  const Result<File> file = File::Open(path);
  if (!file.ok()) return false;
  std::array<std::byte, kProbeBytes> prefix;
  const Result<size_t> size = file->ReadUpTo(0, prefix);
  if (!size.ok()) return false;
  const FileKind kind = ProbeFile(std::span(prefix).first(*size));
  if (kind == FileKind::kPng || kind == FileKind::kJpeg || kind == FileKind::kWebp) return true;
  if (!MayBePicture({reinterpret_cast<const char*>(prefix.data()), *size})) return false;
  return IsNamedAsPicture(path) || ReadHeader(path).ok();
}

Status DecodePicture(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const Buffer bytes, ReadWholeFile(path));
  return DecodeImage({bytes.data(), bytes.size()}, path).status();
}

const FileFormat kPictureFormat = {
    .name = "picture",
    .holds = [](const ProbedFile& file) -> Result<bool> { return IsPicture(file.path); },
    .inspect = [](const ProbedFile& file) { return InspectPicture(file.path); },
    .recipe = [](const ProbedFile&) { return std::string("list: {path: ...}"); },
    .verify = [](const ProbedFile& file, const Inspection&,
                 Verification&) { return DecodePicture(file.path); },
};

}  // namespace stoker
