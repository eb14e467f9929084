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
// one larger record. Equal calls give equal bytes. Movable; one thread at a time.
class ShardWriter {
 public:
  // Errors: those of AtomicFileWriter::Create; kInvalidArgument for an invalid schema.
  static Result<ShardWriter> Create(const std::string& path, const ShardSchema& schema,
                                    uint64_t page_bytes = kDefaultShardPageBytes);

  // Adds a record: one array for each field, of its dtype and shape. Errors: kInvalidArgument names
  // record and field; those of AtomicFileWriter. After an error nothing can be added.
  Status Append(std::span<const Array> record);

  // Returns the records so far.
  int64_t size() const { return records_; }
  // Returns the bytes of the file so far, without the current page.
  uint64_t bytes() const { return file_.size(); }

  Status Commit();

 private:
  // One field of the current page.
  struct Column {
    std::vector<std::byte> values;
    std::vector<uint32_t> ends, extents;  // if shapes differ
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
  uint32_t block_checksum_ = 0;      // of the current block
  uint64_t block_filled_ = 0;
};

}  // namespace stoker
