// Atomic files that are written through a compressor.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/base/status.h"
#include "stoker/io/atomic_file.h"

namespace stoker {

enum class Compression {
  kNone,
  kGzip,  // RFC 1952, one member without name and time
  kZlib,  // RFC 1950
};

// An AtomicFileWriter that deflates its bytes (zlib); equal input gives equal files. Memory: about
// 330 KiB if it compresses. Movable; one thread at a time.
class CompressedFileWriter {
 public:
  // level  1 (fast) .. 9 (small). Errors: those of AtomicFileWriter; kInvalidArgument (level).
  static Result<CompressedFileWriter> Create(std::string path, Compression compression,
                                             int level = 6);
  CompressedFileWriter(CompressedFileWriter&& other) noexcept;
  CompressedFileWriter& operator=(CompressedFileWriter&& other) noexcept;
  ~CompressedFileWriter();

  // Adds bytes. After an error all calls fail.
  Status Append(std::span<const std::byte> bytes);
  Status Append(std::string_view text) { return Append(std::as_bytes(std::span(text))); }

  // Ends the compressed data, flushes to the disk and takes the final name. Call once.
  Status Commit();

 private:
  class Deflater;
  CompressedFileWriter(AtomicFileWriter file, std::unique_ptr<Deflater> deflater);

  AtomicFileWriter file_;
  std::unique_ptr<Deflater> deflater_;  // null: not compressed
};

}  // namespace stoker
