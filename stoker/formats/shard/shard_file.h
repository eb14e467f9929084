// Reads .stoker files: records by their number.
// docs/formats/stoker.md has the layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/buffer.h"
#include "stoker/base/status.h"
#include "stoker/formats/chunked/chunked_array.h"
#include "stoker/formats/shard/shard_schema.h"
#include "stoker/io/file_bytes.h"

namespace stoker {

namespace internal {
struct ShardContent;
}

enum class ShardChecks {
  kOnFirstRead,  // the checksum of each block of 256 KiB, when a byte of it is first read
  kNone,         // only header and footer; values may be wrong, but reads stay within the file
};

// Open reads header and footer: 12 bytes a page and field, and 4 bytes for each 256 KiB. Immutable
// and a cheap value; const functions are safe from several threads. io/file_bytes.h says how the
// file is read.
//
// Errors: kDataLoss with file and byte ("a.stoker: byte 262144: ...").
class ShardFile {
 public:
  static Result<ShardFile> Open(const std::string& path,
                                ShardChecks checks = ShardChecks::kOnFirstRead);
  // Opens bytes in memory, 64-byte aligned, shared, not copied.
  static Result<ShardFile> Parse(Buffer bytes, std::string name,
                                 ShardChecks checks = ShardChecks::kOnFirstRead);

  const std::string& name() const;
  const ShardSchema& schema() const;
  int64_t size() const;  // records
  uint64_t bytes() const;

  struct Page {
    int64_t first = 0;  // record
    int64_t records = 0;
    uint64_t begin = 0, bytes = 0;  // in the file
  };
  int64_t pages() const;
  Page page(int64_t number) const;
  // Returns the page that holds `record`, 0 <= record < size().
  int64_t PageOf(int64_t record) const;

  const FileBytes& file() const;
  // Returns where in the file the values of a field of known shape begin in a page: one record
  // after the other. Does not check them.
  uint64_t Values(int64_t page, size_t field) const;
  // Checks the values of `records` consecutive records of a page from its record `first` on, as
  // `ShardChecks` asks.
  Status CheckValues(int64_t page, size_t field, int64_t first, int64_t records) const;
  // Returns true if CheckValues has nothing left to check in the whole file.
  bool all_checked() const;

  // Returns one record. Its arrays share the file's memory, or are copies in arrays from `make` if
  // the file is read by position.
  Result<std::vector<Array>> Read(int64_t record, const NewArray& make = NewArrayOfNobody) const;

  // A block whose checksum is wrong.
  struct Damage {
    uint64_t begin = 0, bytes = 0;
    int64_t first = 0, records = 0;  // of the pages that overlap it; none: it is in the header
  };
  int64_t blocks() const;
  // Checks block `number`, even if it was checked before. Returns true if it is whole; false also
  // if it cannot be read.
  bool CheckBlock(int64_t number) const;
  Damage DamageOf(int64_t number) const;

 private:
  static Result<ShardFile> Parse(FileBytes file, ShardChecks checks);
  explicit ShardFile(std::shared_ptr<const internal::ShardContent> content)
      : content_(std::move(content)) {}

  std::shared_ptr<const internal::ShardContent> content_;
};

}  // namespace stoker
