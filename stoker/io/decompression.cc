#include "stoker/io/decompression.h"

#include "stoker/io/bzip2.h"
#include "stoker/io/gzip.h"
#include "stoker/io/xz.h"
#include "stoker/io/zstd.h"

namespace stoker {
namespace {

template <char... kMagic>
bool BeginsWith(std::string_view start) {
  constexpr char kBytes[] = {kMagic...};
  return start.starts_with(std::string_view(kBytes, sizeof(kBytes)));
}

constexpr Decompression kDecompressions[] = {
    {"gzip", ".gz", BeginsWith<'\x1f', '\x8b'>, MakeGzipSource},
    {"zlib", "", nullptr, MakeZlibSource},
    {"zstd", ".zst", BeginsWith<'\x28', '\xb5', '\x2f', '\xfd'>, MakeZstdSource},
    {"xz", ".xz", BeginsWith<'\xfd', '7', 'z', 'X', 'Z', '\0'>, MakeXzSource},
    {"bzip2", ".bz2", BeginsBzip2, MakeBzip2Source},
};

// Those that are not read. Numbers may begin like some of them, so the ending counts too.
constexpr Decompression kUnread[] = {
    {"lz4", ".lz4", BeginsWith<'\x04', '\x22', '\x4d', '\x18'>, nullptr},
    {"lzma", ".lzma", BeginsWith<'\x5d', '\0', '\0'>, nullptr},
    {"lzip", ".lz", BeginsWith<'L', 'Z', 'I', 'P'>, nullptr},
    {"compress", ".Z", BeginsWith<'\x1f', '\x9d'>, nullptr},
};

}  // namespace

std::span<const Decompression> Decompressions() { return kDecompressions; }

const Decompression* DecompressionOfStart(std::string_view start) {
  for (const Decompression& one : kDecompressions) {
    if (one.begins != nullptr && one.begins(start)) return &one;
  }
  return nullptr;
}

std::string_view UnreadCompression(std::string_view path, std::string_view start) {
  for (const Decompression& one : kUnread) {
    if (path.ends_with(one.ending) && one.begins(start)) return one.name;
  }
  return {};
}

const Decompression* DecompressionNamed(std::string_view name) {
  for (const Decompression& one : kDecompressions) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

std::string_view WithoutCompressedEnding(std::string_view path) {
  for (const Decompression& one : kDecompressions) {
    if (!one.ending.empty() && path.ends_with(one.ending))
      return path.substr(0, path.size() - one.ending.size());
  }
  return path;
}

}  // namespace stoker
