// Databases of LMDB, mapped and read by position. README.md has the layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/buffer.h"
#include "stoker/base/status.h"

namespace stoker {

// Immutable and thread-safe. Takes 24 bytes a value, and at Open a look at every leaf page.
class LmdbFile {
 public:
  // `path`: the folder, or its data file. `database`: the name of one within; empty: the main one.
  // `prefix`: values whose keys begin otherwise are left out. The file must not be written
  // meanwhile (io/file.h, MappedFile). Errors: kDataLoss with page and byte; kNotFound where there
  // is no such database; kUnimplemented for several values a key; those of MappedFile::Open.
  static Result<LmdbFile> Open(const std::string& path, std::string_view database = {},
                               std::string_view prefix = {});
  // The same over bytes in memory. `name`: what errors call them.
  static Result<LmdbFile> Parse(Buffer bytes, std::string name, std::string_view database = {},
                                std::string_view prefix = {});

  // The data file's path.
  const std::string& name() const { return name_; }
  // What is mapped: keys and values are parts of it.
  const Buffer& bytes() const { return bytes_; }

  int64_t size() const { return static_cast<int64_t>(entries_.size()); }
  // By position in the order of the keys' bytes.
  std::string_view key(int64_t position) const;
  std::span<const std::byte> value(int64_t position) const;
  uint64_t longest_value() const { return longest_; }
  // The names of the databases that the opened one holds beside its values, which are the main
  // one's in all files that libraries write; in the order of their bytes.
  const std::vector<std::string>& databases() const { return databases_; }

 private:
  struct Entry {
    uint64_t key, value;  // where they begin
    uint32_t value_bytes;
    uint16_t key_bytes;
  };
  class Walk;

  LmdbFile(Buffer bytes, std::string name) : bytes_(std::move(bytes)), name_(std::move(name)) {}

  Buffer bytes_;
  std::string name_;
  std::vector<Entry> entries_;
  uint64_t longest_ = 0;
  std::vector<std::string> databases_;
};

}  // namespace stoker
