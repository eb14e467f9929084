// What kind of file this is, by its first bytes: for `stoker inspect` and for error messages that
// help.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace stoker {

enum class FileKind {
  kUnknown,
  kEmpty,
  kIdx,
  kGzip,
  kZstd,
  kXz,
  kBzip2,
  kSafetensors,
  kZip,       // also PyTorch's .pt and numpy's .npz
  kOldTorch,  // PyTorch's .pt of before version 1.6
  kNumpy,
  kHdf5,
  kLmdb,
  kRecordIo,
  kTar,
  kStoker,    // our own shard
  kElements,  // of a cache or snapshot
  kPng,
  kJpeg,
  kGif,
  kWebp,
  kHtml,  // what a failed download often is
  kJson,
  kText,  // printable, in ASCII or UTF-8
};

// How many of a file's bytes ProbeFile looks at.
inline constexpr size_t kProbeBytes = 512;

// The kind of a file that begins with `prefix`: its first kProbeBytes bytes, or all of them where
// it is shorter. A guess from a few bytes; the parser has the last word.
FileKind ProbeFile(std::span<const std::byte> prefix);

// For people, with an article where there is one: "a PNG image", "gzip data", "an empty file".
std::string_view FileKindName(FileKind kind);

}  // namespace stoker
