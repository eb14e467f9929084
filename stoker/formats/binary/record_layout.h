// The places of the fields in records of fixed length. README.md has the layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/dtype.h"
#include "stoker/base/shape.h"
#include "stoker/base/status.h"

namespace stoker {

struct RecordField {
  std::string name;
  DType dtype = DType::kUInt8;
  Shape shape;          // fully known
  int64_t offset = -1;  // of its first byte in the record; -1: after the preceding field
};

// Immutable; thread-safe.
class RecordLayout {
 public:
  struct Options {
    int64_t record_bytes = 0;  // 0: to the end of the field that ends last
    int64_t header_bytes = 0, footer_bytes = 0;
    bool big_endian = false;
  };
  // Errors: kInvalidArgument for no fields, and for fields that do not fit into the record.
  static Result<RecordLayout> Make(std::vector<RecordField> fields, const Options& options);

  int64_t record_bytes() const { return options_.record_bytes; }
  int64_t header_bytes() const { return options_.header_bytes; }
  int64_t footer_bytes() const { return options_.footer_bytes; }

  // Returns how many records a file of this many bytes has. Errors: kDataLoss if that is not a
  // whole number; `name` begins the message.
  Result<int64_t> RecordsIn(uint64_t file_bytes, const std::string& name) const;
  // Returns where record `number` begins in the file.
  uint64_t OffsetOf(int64_t number) const {
    return static_cast<uint64_t>(options_.header_bytes + number * options_.record_bytes);
  }

  // Writes each field of a record, record_bytes() of it, to its place, in this machine's byte
  // order.
  void Unpack(std::span<const std::byte> record, std::span<std::byte* const> memory) const;

 private:
  RecordLayout(std::vector<RecordField> fields, const Options& options)
      : fields_(std::move(fields)), options_(options) {}

  std::vector<RecordField> fields_;
  Options options_;
};

// Reverses the bytes of each value: converts between little- and big-endian.
void ReverseBytes(std::byte* values, size_t num_bytes, size_t value_bytes);

}  // namespace stoker
