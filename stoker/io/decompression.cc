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

}  // namespace

std::span<const Decompression> Decompressions() { return kDecompressions; }

const Decompression* DecompressionOfStart(std::string_view start) {
  for (const Decompression& one : kDecompressions) {
    if (one.begins != nullptr && one.begins(start)) return &one;
  }
  return nullptr;
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
