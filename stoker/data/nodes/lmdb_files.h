// Several LMDB databases as one sequence of elements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/data/core/class_names.h"
#include "stoker/data/nodes/part_starts.h"
#include "stoker/formats/lmdb/lmdb_file.h"
#include "stoker/formats/record_fields.h"

namespace stoker {

// Immutable and thread-safe.
class LmdbFiles {
 public:
  // Opens each. If the first was packed all must be, with the same fields. Errors: those of
  // LmdbFile::Open; kInvalidArgument if they disagree; kDataLoss for a packed one that lacks
  // entries.
  static Result<LmdbFiles> Open(const std::vector<std::string>& paths, std::string_view database,
                                std::string_view prefix);

  // Returns the schema of databases that `stoker pack` wrote; nothing for others.
  const std::optional<RecordSchema>& packed() const { return packed_; }
  int64_t size() const { return starts_.size(); }
  uint64_t longest_value() const { return longest_; }
  // Returns whether keys and values are in memory; else values are read from the files.
  bool present() const { return files_.front().file().present(); }
  std::vector<std::string> names() const;

  // The place of element `position`, 0 <= position < size().
  struct Place {
    const LmdbFile* file;
    int64_t entry;  // its first entry
  };
  Place At(int64_t position) const;

 private:
  std::vector<LmdbFile> files_;
  PartStarts starts_;
  std::optional<RecordSchema> packed_;
  uint64_t longest_ = 0;
};

}  // namespace stoker
