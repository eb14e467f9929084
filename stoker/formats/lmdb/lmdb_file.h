// LMDB databases, read by position. README.md has the layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/buffer.h"
#include "stoker/base/status.h"
#include "stoker/io/file_bytes.h"

namespace stoker {

// Immutable and thread-safe. Takes 24 bytes a value, and its key too if the file is not mapped
// (io/file_bytes.h). Open reads every leaf page.
class LmdbFile {
 public:
  // `path`: the folder, or its data file. `database`: the name of one within; empty: the main one.
  // `prefix`: keeps only values whose keys begin so. Errors: kDataLoss with page and byte;
  // kNotFound if there is no such database; kUnimplemented for several values a key; those of
  // FileBytes::Open.
  static Result<LmdbFile> Open(const std::string& path, std::string_view database = {},
                               std::string_view prefix = {});
  // Opens bytes in memory. `name`: what errors call them.
  static Result<LmdbFile> Parse(Buffer bytes, std::string name, std::string_view database = {},
                                std::string_view prefix = {});

  // Opens another database of the same file.
  Result<LmdbFile> Database(std::string_view name) const;

  // Returns the data file's path.
  const std::string& name() const { return file_.name(); }
  const FileBytes& file() const { return file_; }

  int64_t size() const { return static_cast<int64_t>(entries_.size()); }
  // Returns the key by position in the order of the keys' bytes. A part of the file's bytes if they
  // are present.
  std::string_view key(int64_t position) const;
  // Returns the place of the value in the file's bytes; readable only if file().present().
  std::span<const std::byte> value(int64_t position) const;
  // Copies the value; `out` has value(position).size() bytes. Errors: those of FileBytes::ReadAt.
  Status ReadValue(int64_t position, std::span<std::byte> out) const;
  uint64_t longest_value() const { return longest_; }
  // Returns the names of the databases that the opened one holds beside its values, in the order of
  // their bytes. In files that libraries write only the main one has any.
  const std::vector<std::string>& databases() const { return databases_; }

 private:
  struct Entry {
    uint64_t key, value;  // offsets in the file
    uint32_t value_bytes;
    uint16_t key_bytes;
  };
  class Walk;

  explicit LmdbFile(FileBytes file) : file_(std::move(file)) {}
  static Result<LmdbFile> Parse(FileBytes bytes, std::string_view database,
                                std::string_view prefix);

  FileBytes file_;
  std::string keys_;  // concatenated, if the file's bytes are not present
  std::vector<Entry> entries_;
  uint64_t longest_ = 0;
  std::vector<std::string> databases_;
};

}  // namespace stoker
