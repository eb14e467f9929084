// Several indexed files as one sequence of records, for sources whose records have any length.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/transform.h"
#include "stoker/data/nodes/by_position_node.h"
#include "stoker/data/nodes/part_starts.h"
#include "stoker/formats/offset_index/offset_index.h"
#include "stoker/io/file.h"

namespace stoker {

// Returns whether all files are plain and local, so that they can be read by position; with
// `fetch`, or can be fetched from their servers into the local cache. Errors: those of opening
// them.
Result<bool> AllArePlain(const std::vector<std::string>& paths, bool fetch = false);

// Immutable and thread-safe. Files on servers are copied into the local cache, and their indices
// are made anew each time. The files stay open; files written under their names later have no
// effect.
class IndexedFiles {
 public:
  using Scan = std::function<Result<std::vector<uint64_t>>(const File& file)>;

  // Opens each file and its index. Errors: those of File::Open and IndexFile.
  static Result<IndexedFiles> Open(const std::vector<std::string>& paths, std::string_view format,
                                   uint64_t settings, IndexUse use, const Scan& scan);

  int64_t size() const { return starts_.size(); }
  uint64_t longest() const { return longest_; }

  // The place of record `position`, 0 <= position < size().
  struct Place {
    const File* file;
    int64_t number;  // in the file
    uint64_t begin, end;
    uint64_t bytes() const { return end - begin; }
    std::string ToString() const;  // "a.tfrecord: record 12 (byte 812)"
  };
  Place At(int64_t position) const;

  // Returns all bytes of a record, in a block whose size is rounded so that records of similar
  // length can recycle it.
  Result<Buffer> Read(const Place& place, Scratch& scratch) const;
  // Returns the most memory that Read takes for one record.
  int64_t MostBytes() const;

 private:
  std::vector<File> files_;
  std::vector<OffsetIndex> indices_;
  PartStarts starts_;
  uint64_t longest_ = 0;
};

// A source over them: element i is made from record i, and has its number as key. Sub-classes
// implement DoRead and MemoryToRead.
class IndexedFilesNode : public ByPositionNode {
 public:
  std::string Details() const final { return details_; }
  std::vector<std::string> files() const final { return paths_; }

 protected:
  IndexedFilesNode(std::string_view name, Spec spec, std::string details,
                   std::vector<std::string> paths, IndexedFiles records);

  const IndexedFiles& records() const { return records_; }
  // For NameOf of a source whose files name samples (SampleNames); empty for any other number.
  std::string NameOfRecord(int64_t number) const;

 private:
  const std::string details_;
  const std::vector<std::string> paths_;
  const IndexedFiles records_;
};

}  // namespace stoker
