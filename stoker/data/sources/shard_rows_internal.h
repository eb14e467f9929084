// Several .stoker files as one sequence of records.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stoker/data/core/class_names.h"
#include "stoker/data/core/element.h"
#include "stoker/data/core/transform.h"
#include "stoker/data/nodes/part_starts.h"
#include "stoker/formats/shard/shard_file.h"

namespace stoker {

// Immutable and thread-safe.
class ShardRows {
 public:
  // Opens each. Errors: those of ShardFile::Open; kInvalidArgument if they differ in fields or
  // names of classes.
  static Result<ShardRows> Open(const std::vector<std::string>& paths, ShardChecks checks);

  int64_t size() const { return starts_.size(); }
  const ShardSchema& schema() const { return files_.front().schema(); }
  const std::vector<std::string>& classes() const { return classes_.names(); }

  // Returns whether records share the files' memory; else they are copies.
  bool shared() const { return shared_; }
  // Record `position`, 0 <= position < size(); a copy is made in `scratch`.
  Result<std::vector<Array>> Read(int64_t position, Scratch& scratch) const;
  // Copies of these records in their order, column by column; shapes are fully known.
  Result<std::vector<Array>> Gather(std::span<const int64_t> positions, Scratch& scratch) const;

  // Returns "a.stoker: record 12"
  std::string NameOf(int64_t position) const;

 private:
  // One of a file's pages.
  struct Page {
    int64_t first;  // position of its first record
    size_t file;
    int64_t number;  // in the file
  };
  // Consecutive positions within one page.
  struct Run {
    size_t page;
    int64_t first;  // record of the page
    int64_t records;
  };
  static constexpr size_t kRunsAtOnce = 128;  // a batch's, mostly
  void AddPagesOf(size_t file);
  size_t PageOf(int64_t position) const;
  // Finds the runs of the first positions, as many as `runs` has room for, and removes these
  // positions. Returns the number of runs.
  size_t FindRuns(std::span<const int64_t>& positions, std::span<Run> runs) const;
  Status CheckRuns(std::span<const Run> runs) const;
  // `runs`: at most kRunsAtOnce.
  Status CopyField(size_t field, std::span<const Run> runs, size_t record_bytes,
                   std::byte* to) const;

  std::vector<ShardFile> files_;
  AgreedClassNames classes_;
  PartStarts starts_;
  std::vector<Page> pages_;  // of all files, followed by an empty one
  bool shared_ = true;
  double pages_per_record_ = 0;  // on average, without the last page of each file
  // For each page and field of known shape, the address of its values in the file's memory, which
  // may not be loaded; null for other fields.
  std::vector<const std::byte*> values_;
};

}  // namespace stoker
