// Writes TFRecord files.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/base/status.h"
#include "stoker/io/compressed_file.h"

namespace stoker {

// Returns a framed record: length, the length's checksum, data, their checksum. For files that grow
// while they are read, such as TensorBoard's.
std::string FrameTfRecord(std::string_view record);

// The file has its name once Commit has returned (io/atomic_file.h). Movable; one thread at a time.
// Errors: those of CompressedFileWriter.
class TfRecordWriter {
 public:
  static Result<TfRecordWriter> Create(std::string path,
                                       Compression compression = Compression::kNone);

  Status Append(std::span<const std::byte> record);
  Status Append(std::string_view record) { return Append(std::as_bytes(std::span(record))); }
  Status Commit() { return file_.Commit(); }

 private:
  explicit TfRecordWriter(CompressedFileWriter file) : file_(std::move(file)) {}
  CompressedFileWriter file_;
};

}  // namespace stoker
