// An index of where the records of a file begin, so that records of any length can be read by
// position. README.md has the layout of its file.
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

// Identifies the content of a file.
struct FileStamp {
  uint64_t size = 0;
  int64_t modified_ns = 0;  // since 1970
  bool operator==(const FileStamp&) const = default;
};

// Errors: kNotFound, kPermissionDenied.
Result<FileStamp> StampOf(const std::string& path);

// Identifies the content that an index describes.
struct IndexedContent {
  std::string_view format;  // at most 8 characters
  FileStamp stamp;
  uint64_t settings = 0;  // settings that affect where records begin
};

// Immutable and a cheap value: copies share the offsets. Thread-safe.
class OffsetIndex {
 public:
  // `offsets`: where each record begins, followed by where the last one ends; never decreasing, at
  // least one.
  static OffsetIndex Of(const std::vector<uint64_t>& offsets);

  int64_t size() const { return static_cast<int64_t>(offsets_.size()) - 1; }
  uint64_t begin(int64_t record) const { return offsets_[static_cast<size_t>(record)]; }
  uint64_t end(int64_t record) const { return offsets_[static_cast<size_t>(record) + 1]; }
  // Returns the bytes of the longest record.
  uint64_t longest() const { return longest_; }

  // Maps the index at `path`; nothing if there is none, or it is damaged, of another version or of
  // other content. Reads it once, to verify its checksum.
  static std::optional<OffsetIndex> Load(const std::string& path, const IndexedContent& content);
  // Errors: those of io/atomic_file.h.
  Status Store(const std::string& path, const IndexedContent& content) const;

 private:
  OffsetIndex(Buffer memory, std::span<const uint64_t> offsets, uint64_t longest)
      : memory_(std::move(memory)), offsets_(offsets), longest_(longest) {}

  Buffer memory_;                      // of offsets_
  std::span<const uint64_t> offsets_;  // size() + 1
  uint64_t longest_;
};

// Returns "dir/.NAME.stoker-index" for "dir/NAME".
std::string IndexPathOf(const std::string& path);

enum class IndexUse {
  kStored,  // use the index beside the file if valid; else scan, and write one
  kMemory,  // scan; write nothing
};

// Returns the index of the file at `path`. `scan` finds the offsets, as OffsetIndex::Of takes them.
// It is not an error if the index cannot be written beside the file (a read-only folder, a full
// disk). Errors: those of `scan`; kFailedPrecondition if the file changed meanwhile.
Result<OffsetIndex> IndexFile(const std::string& path, std::string_view format, uint64_t settings,
                              IndexUse use,
                              const std::function<Result<std::vector<uint64_t>>()>& scan);

}  // namespace stoker
