// Guesses the kind of a file from its first bytes, for `stoker inspect` and for error messages.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace stoker {

enum class FileKind {
  kUnknown,
  kEmpty,
  kIdx,
  kCompressed,  // as io/decompression.h lists
  kSafetensors,
  kZip,       // also PyTorch's .pt and numpy's .npz
  kOldTorch,  // PyTorch's .pt of before version 1.6
  kNumpy,
  kHdf5,
  kLmdb,
  kParquet,
  kArrow,  // IPC: files, Feather among them, and streams
  kRecordIo,
  kTar,
  kStoker,    // Stoker's own shard
  kElements,  // of a cache or snapshot
  kPng,
  kJpeg,
  kGif,
  kWebp,
  kHtml,  // often a failed download
  kJson,
  kText,  // printable, in ASCII or UTF-8
};

// The number of bytes that ProbeFile reads.
inline constexpr size_t kProbeBytes = 512;

// Returns the kind of a file that begins with `prefix`: its first kProbeBytes bytes, or all of a
// shorter file. Only the parser can tell for certain.
FileKind ProbeFile(std::span<const std::byte> prefix);

// Returns the kind's name in a sentence: "a PNG image", "compressed data", "an empty file".
std::string_view FileKindName(FileKind kind);

// Returns what a file that begins with `prefix` is, in a sentence: as FileKindName, but for
// compressed data by their compression's name: "gzip data".
std::string DescribeStart(std::span<const std::byte> prefix);

}  // namespace stoker
