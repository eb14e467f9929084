// One element as bytes, for element files and caches in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/status.h"
#include "stoker/formats/record_fields.h"

namespace stoker {

constexpr size_t kElementAlignment = 8;  // of records, and of each field in them

// Converts elements of these fields to records and back; README.md has the layout byte by byte.
// Immutable.
class ElementLayout {
 public:
  explicit ElementLayout(std::vector<ElementField> fields);

  const std::vector<ElementField>& fields() const { return fields_; }

  // Returns where each field's values begin in every record; nothing if shapes are not fully
  // known.
  const std::optional<std::vector<size_t>>& offsets() const { return offsets_; }

  // Returns the bytes of every record; nothing if shapes are not fully known.
  std::optional<size_t> fixed_bytes() const {
    return offsets_ ? EndOf({}) : std::optional<size_t>();
  }
  // Returns the bytes of a record of these arrays: a multiple of 8. They must be of the fields'
  // dtypes and fit their shapes.
  size_t RecordBytes(std::span<const Array> arrays) const;
  // Writes the record to `out`, 8-byte aligned, of RecordBytes(arrays). `index` is the element's
  // own number.
  void Write(int64_t index, std::span<const Array> arrays, std::byte* out) const;

  struct Record {
    int64_t index = 0;
    std::vector<Array> arrays;  // they share the memory of the bytes
  };
  // Reads a record that begins at `offset` of `bytes` (8-byte aligned) and checks all of it, its
  // checksum too. Errors: kDataLoss; `name` is what they call the bytes.
  Result<Record> Read(const Buffer& bytes, size_t offset, const std::string& name) const;
  // Checks a record and returns its bytes, without making arrays. `begins`: the offset of `bytes`
  // in what `name` calls, for errors.
  Result<std::span<const std::byte>> Check(std::span<const std::byte> bytes, size_t offset,
                                           const std::string& name, uint64_t begins = 0) const;
  // The length of a record's start, and the record's size computed from it (0 if invalid). `start`
  // has start_bytes().
  size_t start_bytes() const;
  uint64_t SizeOf(std::span<const std::byte> start) const;
  // Returns the arrays of a record that has been checked, or was written here.
  Record Parse(const Buffer& bytes, size_t offset) const;

  // Returns the number of a record that has been checked, or was written here.
  static int64_t IndexOf(const std::byte* record);

 private:
  // Returns where the values end if these extents replace the unknown ones; nothing if that is more
  // than any machine can address.
  std::optional<size_t> EndOf(std::span<const int64_t> extents) const;

  std::vector<ElementField> fields_;
  size_t unknown_extents_ = 0;
  std::optional<std::vector<size_t>> offsets_;
};

}  // namespace stoker
