// The state of an open ShardFile.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/buffer.h"
#include "stoker/base/status.h"
#include "stoker/formats/shard/shard_file.h"
#include "stoker/formats/shard/shard_layout_internal.h"
#include "stoker/io/file_bytes.h"

namespace stoker::internal {

struct ShardContent {
  explicit ShardContent(FileBytes of) : file(std::move(of)) {}

  FileBytes file;
  ShardChecks checks = ShardChecks::kOnFirstRead;
  ShardSchema schema;
  std::vector<ShardColumn> columns;  // one for each field
  ShardTrailer trailer = {};
  std::span<const uint64_t> table;      // of the pages, in the footer
  std::span<const uint32_t> checksums;  // of the blocks, in the footer
  double pages_per_record = 0;          // on average
  // By block; threads that race find the same.
  std::unique_ptr<std::atomic<bool>[]> checked;
  mutable std::atomic<uint64_t> unchecked{0};  // blocks not yet checked

  const std::string& name() const { return file.name(); }
  std::span<const std::byte> bytes() const { return file.bytes(); }
  size_t entry_words() const { return sizeof(ShardPageEntry) / 8 + columns.size(); }
  const uint64_t* entry(int64_t page) const {
    return table.data() + static_cast<size_t>(page) * entry_words();
  }
  uint64_t column(int64_t page, size_t field) const {  // its offset in the page
    return entry(page)[sizeof(ShardPageEntry) / 8 + field];
  }
  uint64_t column_end(int64_t page, size_t field) const {
    return field + 1 < columns.size() ? column(page, field + 1) : entry(page)[1];
  }

  Result<bool> BlockIsWhole(uint64_t block) const;
  // Checks those blocks of these bytes of the file that are not yet checked.
  Status Check(uint64_t begin, uint64_t bytes) const;
  Result<Array> ReadField(int64_t page, size_t field, int64_t record, const NewArray& make) const;
  // Returns the values at this byte: shared with the file, or a copy in an array from `make`.
  Result<Array> ArrayAt(uint64_t at, DType dtype, Shape shape, const NewArray& make) const;
  // Returns an error at this byte of the file.
  Status DamagedAt(uint64_t at, std::string_view what) const;
};

// Reads and checks header, schema, trailer and footer, and fills the members that depend on them.
Status ParseShard(ShardContent& content);

}  // namespace stoker::internal
