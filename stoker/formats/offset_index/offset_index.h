// Where the records of a file begin, so that files whose records have lengths of their own are read
// by position. README.md has the layout of the file in which it is kept.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/buffer.h"
#include "stoker/base/status.h"

namespace stoker {

// Which content of which file it is.
struct FileStamp {
  uint64_t size = 0;
  int64_t modified_ns = 0;  // since 1970
  bool operator==(const FileStamp&) const = default;
};

// Errors: kNotFound, kPermissionDenied.
Result<FileStamp> StampOf(const std::string& path);

// What an index is of.
struct IndexedContent {
  std::string_view format;  // at most 8 characters
  FileStamp stamp;
  uint64_t settings = 0;  // what besides the file decides where records begin
};

// Immutable and a cheap value: copies share the offsets. Thread-safe.
class OffsetIndex {
 public:
  // `offsets`: where each record begins, and last where the last one ends; never decreasing, at
  // least one.
  static OffsetIndex Of(const std::vector<uint64_t>& offsets);

  int64_t size() const { return static_cast<int64_t>(offsets_.size()) - 1; }
  uint64_t begin(int64_t record) const { return offsets_[static_cast<size_t>(record)]; }
  uint64_t end(int64_t record) const { return offsets_[static_cast<size_t>(record) + 1]; }
  // Of all records, the most bytes from one's begin to its end.
  uint64_t longest() const { return longest_; }

  // The index that is kept at `path`, mapped: nothing where there is none, or one that is damaged,
  // of another version or of other content. Costs reading it once, for its checksum.
  static std::optional<OffsetIndex> Load(const std::string& path, const IndexedContent& content);
  // Errors: those of io/atomic_file.h.
  Status Store(const std::string& path, const IndexedContent& content) const;

 private:
  OffsetIndex(Buffer memory, std::span<const uint64_t> offsets, uint64_t longest)
      : memory_(std::move(memory)), offsets_(offsets), longest_(longest) {}

  Buffer memory_;                      // behind offsets_
  std::span<const uint64_t> offsets_;  // size() + 1
  uint64_t longest_;
};

// "dir/.NAME.stoker-index" for "dir/NAME".
std::string IndexPathOf(const std::string& path);

enum class IndexUse {
  kStored,  // the index beside the file, where it is valid; else scan, and put one there
  kMemory,  // scan, write nothing
};

// The index of the file at `path`. `scan` finds the offsets, as OffsetIndex::Of takes them. Where
// the index cannot be put beside the file (a read-only folder, a full disk) that is no error.
// Errors: those of `scan`; kFailedPrecondition where the file changed meanwhile.
Result<OffsetIndex> IndexFile(const std::string& path, std::string_view format, uint64_t settings,
                              IndexUse use,
                              const std::function<Result<std::vector<uint64_t>>()>& scan);

}  // namespace stoker
