// Writes tar archives. README.md has the layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/base/status.h"
#include "stoker/io/compressed_file.h"

namespace stoker {

// Writes regular files in the order of Append, without an owner, readable by all, of time 0: equal
// content gives equal bytes. Names that do not fit and sizes of 8 GiB or more go into pax records.
// The file has its name once Commit has returned (io/atomic_file.h). Movable; one thread at a time.
// Errors: those of CompressedFileWriter.
class TarWriter {
 public:
  static Result<TarWriter> Create(std::string path, Compression compression = Compression::kNone);

  // Adds a member. Errors: also kInvalidArgument for a name that is empty or has a zero byte.
  Status Append(std::string_view name, std::span<const std::byte> data);
  Status Append(std::string_view name, std::string_view data) {
    return Append(name, std::as_bytes(std::span(data)));
  }

  // Returns bytes of the archive so far, before compression: where the next member begins.
  uint64_t offset() const { return offset_; }

  // Writes the end and gives the file its name. Call once, last.
  Status Commit();

 private:
  explicit TarWriter(CompressedFileWriter file) : file_(std::move(file)) {}
  Status AppendMember(std::string_view name, std::string_view prefix, uint64_t size, char type,
                      std::span<const std::byte> data);

  CompressedFileWriter file_;
  uint64_t offset_ = 0;
};

}  // namespace stoker
