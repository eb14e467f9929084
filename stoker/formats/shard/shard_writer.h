// Writes .stoker files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/status.h"
#include "stoker/formats/shard/shard_schema.h"
#include "stoker/io/atomic_file.h"

namespace stoker {

inline constexpr uint64_t kDefaultShardPageBytes = 8 << 20;

// The file has its name once Commit has returned (io/atomic_file.h). Holds one page in memory, or
// one record where that is larger. Equal calls give equal bytes. Moves; one thread at a time.
class ShardWriter {
 public:
  // Errors: those of AtomicFileWriter::Create; kInvalidArgument for a schema that is none.
  static Result<ShardWriter> Create(const std::string& path, const ShardSchema& schema,
                                    uint64_t page_bytes = kDefaultShardPageBytes);

  // Adds a record: one array for each field, of its dtype and shape. Errors: kInvalidArgument names
  // record and field; those of AtomicFileWriter. After an error nothing can be added.
  Status Append(std::span<const Array> record);

  // Records so far.
  int64_t size() const { return records_; }
  // Bytes of the file so far; the page under way is not among them.
  uint64_t bytes() const { return file_.size(); }

  Status Commit();

 private:
  // The page under way, of one field.
  struct Column {
    std::vector<std::byte> values;
    std::vector<uint32_t> ends, extents;  // where shapes differ
  };

  ShardWriter(AtomicFileWriter file, std::string path, ShardSchema schema, uint64_t page_bytes);
  Status CheckRecord(std::span<const Array> record) const;
  uint64_t PageBytes() const;
  bool FitsPage(std::span<const Array> record) const;
  Status WritePage();
  Status Write(std::span<const std::byte> bytes);
  Status Pad(uint64_t alignment);

  AtomicFileWriter file_;
  std::string path_;
  ShardSchema schema_;
  uint64_t page_bytes_;
  std::vector<Column> columns_;
  int64_t records_ = 0;
  uint64_t page_records_ = 0;
  uint64_t pages_ = 0;
  std::vector<uint64_t> table_;      // of the pages, as it is written
  std::vector<uint32_t> checksums_;  // of whole blocks
  uint32_t block_checksum_ = 0;      // of the block under way
  uint64_t block_filled_ = 0;
};

}  // namespace stoker
