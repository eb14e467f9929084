// Several .stoker files as one row of records.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stoker/data/core/class_names.h"
#include "stoker/data/core/element.h"
#include "stoker/data/core/transform.h"
#include "stoker/formats/shard/shard_file.h"

namespace stoker {

// Immutable and thread-safe.
class ShardRows {
 public:
  // Opens each. Errors: those of ShardFile::Open; kInvalidArgument if one has other fields, or
  // other names of classes, than another.
  static Result<ShardRows> Open(const std::vector<std::string>& paths, ShardChecks checks);

  int64_t size() const { return starts_.back(); }
  const ShardSchema& schema() const { return files_.front().schema(); }
  const std::vector<std::string>& classes() const { return classes_.names(); }

  // Whether records share the files' memory; else they are copies.
  bool shared() const { return shared_; }
  // Record `position`, 0 <= position < size(); a copy is made in `scratch`.
  Result<std::vector<Array>> Read(int64_t position, Scratch& scratch) const;
  // Copies of these records in their order, column by column; shapes are fully known.
  Result<std::vector<Array>> Gather(std::span<const int64_t> positions, Scratch& scratch) const;

  // "a.stoker: record 12"
  std::string NameOf(int64_t position) const;

 private:
  // One of a file's pages.
  struct Page {
    int64_t first;  // position of its first record
    size_t file;
    int64_t number;  // in the file
  };
  // Consecutive positions, as far as they lie in one page.
  struct Run {
    size_t page;
    int64_t first;  // record of the page
    int64_t records;
  };
  static constexpr size_t kRunsAtOnce = 128;  // a batch's, mostly
  void AddPagesOf(size_t file);
  size_t FileOf(int64_t position) const;
  size_t PageOf(int64_t position) const;
  // Of the first positions, as many as `runs` has room for; those are taken off. Gives how many.
  size_t FindRuns(std::span<const int64_t>& positions, std::span<Run> runs) const;
  Status CheckRuns(std::span<const Run> runs) const;
  // `runs`: at most kRunsAtOnce.
  Status CopyField(size_t field, std::span<const Run> runs, size_t record_bytes,
                   std::byte* to) const;

  std::vector<ShardFile> files_;
  AgreedClassNames classes_;
  std::vector<int64_t> starts_ = {0};  // the position of each file's first record; last, of all
  std::vector<Page> pages_;            // of all files; behind them one more, which has no records
  bool shared_ = true;
  double pages_per_record_ = 0;  // on average, the last page of each file left out
  // For each page and each of its fields where its values lie in the memory of the file, or would,
  // were it there; of fields of unknown shape nothing.
  std::vector<const std::byte*> values_;
};

}  // namespace stoker
