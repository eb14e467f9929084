// One element as bytes: what an element file is made of, and what a cache in memory holds.
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

// How elements of these fields become records; README.md has the layout byte by byte. Immutable.
class RecordLayout {
 public:
  explicit RecordLayout(std::vector<ElementField> fields);

  const std::vector<ElementField>& fields() const { return fields_; }

  // Where each field's values begin in every record; nothing where shapes are not fully known.
  const std::optional<std::vector<size_t>>& offsets() const { return offsets_; }

  // The bytes of every record; nothing where shapes are not fully known.
  std::optional<size_t> fixed_bytes() const {
    return offsets_ ? EndOf({}) : std::optional<size_t>();
  }
  // The bytes of a record of these arrays: a multiple of 8. They must be of the fields' dtypes and
  // fit their shapes.
  size_t RecordBytes(std::span<const Array> arrays) const;
  // Writes the record to `out`, 8-byte aligned, of RecordBytes(arrays). `index` is the element's
  // own number.
  void Write(int64_t index, std::span<const Array> arrays, std::byte* out) const;

  struct Record {
    int64_t index = 0;
    std::vector<Array> arrays;  // sharing the memory of the bytes
  };
  // Reads a record that begins at `offset` of `bytes` (8-byte aligned) and checks all of it, its
  // checksum too. Errors: kDataLoss; `name` is what they call the bytes.
  Result<Record> Read(const Buffer& bytes, size_t offset, const std::string& name) const;
  // The same without the arrays: where the record's bytes are, checked. `begins`: where `bytes`
  // begin in what `name` calls, for errors.
  Result<std::span<const std::byte>> Check(std::span<const std::byte> bytes, size_t offset,
                                           const std::string& name, uint64_t begins = 0) const;
  // What a record begins with, and the size that it has, 0 where it makes no sense, which is known
  // from that: `start` has start_bytes().
  size_t start_bytes() const;
  uint64_t SizeOf(std::span<const std::byte> start) const;
  // The arrays of a record that has been checked, or was written here.
  Record Parse(const Buffer& bytes, size_t offset) const;

  // The number of a record that has been checked, or was written here.
  static int64_t IndexOf(const std::byte* record);

 private:
  // Where the values of fields end that have these extents in the place of the unknown ones;
  // nothing where that is beyond any machine.
  std::optional<size_t> EndOf(std::span<const int64_t> extents) const;

  std::vector<ElementField> fields_;
  size_t unknown_extents_ = 0;
  std::optional<std::vector<size_t>> offsets_;
};

}  // namespace stoker
