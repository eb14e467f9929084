#include "stoker/formats/probe/file_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "stoker/base/utf8.h"
#include "stoker/io/decompression.h"

namespace stoker {
namespace {

using namespace std::string_view_literals;

struct Signature {
  FileKind kind;
  size_t offset;
  std::string_view bytes;
};

constexpr Signature kSignatures[] = {
    {FileKind::kZip, 0, "PK\x03\x04"sv},
    {FileKind::kZip, 0, "PK\x05\x06"sv},  // of no entries
    {FileKind::kOldTorch, 0, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."sv},
    {FileKind::kNumpy, 0, "\x93NUMPY"sv},
    {FileKind::kHdf5, 0, "\x89HDF\r\n\x1a\n"sv},
    {FileKind::kParquet, 0, "PAR1"sv},
    {FileKind::kParquet, 0, "PARE"sv},  // encrypted
    {FileKind::kArrow, 0, "ARROW1"sv},
    {FileKind::kArrow, 0, "FEA1"sv},  // Feather's first version
    {FileKind::kLmdb, 16, "\xde\xc0\xef\xbe\1\0\0\0"sv},
    {FileKind::kRecordIo, 0, "\x0a\x23\xd7\xce"sv},
    {FileKind::kTar, 257, "ustar"sv},
    {FileKind::kStoker, 0, "STKSHARD"sv},
    {FileKind::kElements, 0, "STKELEM1"sv},
    {FileKind::kPng, 0, "\x89PNG\r\n\x1a\n"sv},
    {FileKind::kJpeg, 0, "\xff\xd8\xff"sv},
    {FileKind::kGif, 0, "GIF8"sv},
    {FileKind::kWebp, 8, "WEBPVP8"sv},
};

bool IsIdx(std::string_view text) {
  return text.size() >= 4 && text.starts_with("\0\0"sv) && text[3] != 0 &&
         "\x08\x09\x0b\x0c\x0d\x0e"sv.find(text[2]) != std::string_view::npos;
}

// Tar archives of before POSIX have no signature; their first header has the sum of its bytes, the
// sum's own place taken as spaces, in octal digits (formats/tar/README.md).
bool IsOldTar(std::string_view text) {
  constexpr size_t kSum = 148, kSumBytes = 8;
  if (text.size() < kProbeBytes || text[0] == 0) return false;
  const std::string_view field = text.substr(kSum, kSumBytes);
  const size_t begin = std::min(field.find_first_not_of(' '), kSumBytes);
  const size_t end = std::min(field.find_first_not_of("01234567"sv, begin), kSumBytes);
  uint64_t stored = 0, sum = 0;
  for (const char digit : field.substr(begin, end - begin))
    stored = stored * 8 + static_cast<uint64_t>(digit - '0');
  for (size_t i = 0; i < kProbeBytes; ++i)
    sum += i - kSum < kSumBytes ? uint64_t{' '} : static_cast<uint8_t>(text[i]);
  return begin < end && stored == sum;
}

// A little-endian header length of at most 100,000,000, then the header's brace.
bool IsSafetensors(std::string_view text) {
  if (text.size() < 9 || text[8] != '{') return false;
  uint64_t length = 0;
  for (size_t i = 0; i < 8; ++i)
    length |= static_cast<uint64_t>(static_cast<uint8_t>(text[i])) << 8 * i;
  return length >= 2 && length <= 100'000'000;
}

uint32_t LittleEndian(std::string_view bytes) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i)
    number |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])) << 8 * i;
  return number;
}

// A mark, the length of the schema's description, a multiple of 8, and how far into it its root
// stands.
bool IsArrowStream(std::string_view text) {
  constexpr std::string_view kMark = "\xff\xff\xff\xff"sv;
  if (text.size() < 12 || !text.starts_with(kMark)) return false;
  const uint32_t length = LittleEndian(text.substr(4)), root = LittleEndian(text.substr(8));
  return length > 0 && length < (1u << 28) && length % 8 == 0 && root > 0 && root < length;
}

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Without the first bytes of a character that ends after the prefix.
std::string_view WithoutCutCharacter(std::string_view text) {
  const auto follows = [](char c) { return (c & 0xc0) == 0x80; };
  size_t end = text.size();
  while (end > 0 && text.size() - end < 3 && follows(text[end - 1])) --end;
  if (end == 0 || (text[end - 1] & 0xc0) != 0xc0) return text;
  const auto first = static_cast<uint8_t>(text[end - 1]);
  const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  return text.size() - (end - 1) < bytes ? text.substr(0, end - 1) : text;
}

FileKind KindOfText(std::string_view text) {
  const bool printable = std::all_of(text.begin(), text.end(), [](char c) {
    return IsSpace(c) || (static_cast<uint8_t>(c) >= 32 && c != 127);
  });
  const bool cut = text.size() == kProbeBytes;
  if (!printable || !IsUtf8(cut ? WithoutCutCharacter(text) : text)) return FileKind::kUnknown;
  const auto first = std::find_if_not(text.begin(), text.end(), IsSpace);
  if (first == text.end()) return FileKind::kText;
  if (*first == '{' || *first == '[') return FileKind::kJson;
  return *first == '<' ? FileKind::kHtml : FileKind::kText;
}

}  // namespace

FileKind ProbeFile(std::span<const std::byte> prefix) {
  if (prefix.empty()) return FileKind::kEmpty;
  const std::string_view text(reinterpret_cast<const char*>(prefix.data()),
                              std::min(prefix.size(), kProbeBytes));
  if (DecompressionOfStart(text) != nullptr) return FileKind::kCompressed;
  for (const Signature& signature : kSignatures) {
    if (text.size() > signature.offset &&
        text.substr(signature.offset).starts_with(signature.bytes))
      return signature.kind;
  }
  if (IsArrowStream(text)) return FileKind::kArrow;
  if (IsIdx(text)) return FileKind::kIdx;
  if (IsSafetensors(text)) return FileKind::kSafetensors;
  if (IsOldTar(text)) return FileKind::kTar;
  return KindOfText(text);
}

std::string_view FileKindName(FileKind kind) {
  switch (kind) {
    case FileKind::kUnknown: return "an unknown kind of file";
    case FileKind::kEmpty: return "an empty file";
    case FileKind::kIdx: return "an IDX array";
    case FileKind::kCompressed: return "compressed data";
    case FileKind::kSafetensors: return "a safetensors file";
    case FileKind::kZip: return "a zip archive (also .pt and .npz)";
    case FileKind::kOldTorch: return "a PyTorch file of before version 1.6";
    case FileKind::kNumpy: return "a NumPy array";
    case FileKind::kHdf5: return "an HDF5 file";
    case FileKind::kLmdb: return "an LMDB database";
    case FileKind::kParquet: return "a Parquet file";
    case FileKind::kArrow: return "an Arrow file";
    case FileKind::kRecordIo: return "a RecordIO file";
    case FileKind::kTar: return "a tar archive";
    case FileKind::kStoker: return "a .stoker shard";
    case FileKind::kElements: return "elements of a cache or snapshot";
    case FileKind::kPng: return "a PNG image";
    case FileKind::kJpeg: return "a JPEG image";
    case FileKind::kGif: return "a GIF image";
    case FileKind::kWebp: return "a WebP image";
    case FileKind::kHtml: return "an HTML or XML page";
    case FileKind::kJson: return "JSON text";
    case FileKind::kText: return "text";
  }
  return "an unknown kind of file";
}

std::string DescribeStart(std::span<const std::byte> prefix) {
  const std::string_view text(reinterpret_cast<const char*>(prefix.data()), prefix.size());
  const Decompression* const compression = DecompressionOfStart(text);
  return compression != nullptr ? fmt::format("{} data", compression->name)
                                : std::string(FileKindName(ProbeFile(prefix)));
}

}  // namespace stoker
