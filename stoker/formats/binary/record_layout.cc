#include "stoker/formats/binary/record_layout.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "stoker/formats/array_bytes.h"

namespace stoker {
namespace {

// Larger records are a mistake, and sums of such sizes do not overflow.
constexpr uint64_t kMostBytes = uint64_t{1} << 40;

}  // namespace

void ReverseBytes(std::byte* values, size_t num_bytes, size_t value_bytes) {
  if (value_bytes < 2) return;
  for (std::byte* value = values; value < values + num_bytes; value += value_bytes)
    std::reverse(value, value + value_bytes);
}

Result<RecordLayout> RecordLayout::Make(std::vector<RecordField> fields, const Options& options) {
  if (fields.empty()) return InvalidArgument("no fields are named; name at least one");
  int64_t behind = 0, end = 0;
  for (RecordField& field : fields) {
    const std::optional<uint64_t> bytes = ArrayBytes(field.dtype, field.shape);
    if (field.offset < 0) field.offset = behind;
    if (!bytes || *bytes > kMostBytes || static_cast<uint64_t>(field.offset) > kMostBytes) {
      return InvalidArgument("field '{}': {}{} at byte {} is larger than any record", field.name,
                             DTypeName(field.dtype), ShapeToString(field.shape), field.offset);
    }
    behind = field.offset + static_cast<int64_t>(*bytes);
    end = std::max(end, behind);
    if (options.record_bytes > 0 && behind > options.record_bytes) {
      return InvalidArgument("field '{}' is bytes {} to {}, but records have {}", field.name,
                             field.offset, behind - 1, options.record_bytes);
    }
  }
  Options known = options;
  if (known.record_bytes == 0) known.record_bytes = end;
  if (known.record_bytes == 0) return InvalidArgument("the fields have no values");
  return RecordLayout(std::move(fields), known);
}

Result<int64_t> RecordLayout::RecordsIn(uint64_t file_bytes, const std::string& name) const {
  const auto around = static_cast<uint64_t>(options_.header_bytes + options_.footer_bytes);
  if (file_bytes < around) {
    return DataLoss("{}: the file has {} bytes, header and footer take {}; check the path", name,
                    file_bytes, around);
  }
  const auto size = static_cast<uint64_t>(options_.record_bytes);
  const uint64_t rest = (file_bytes - around) % size;
  const auto records = static_cast<int64_t>((file_bytes - around) / size);
  if (rest == 0) return records;
  return DataLoss(
      "{}: byte {}: record {} ends after {} of its {} bytes: the file has {} bytes, of which "
      "header and footer take {}; it was cut short, or records, header or footer have another "
      "size",
      name, OffsetOf(records), records, rest, size, file_bytes, around);
}

void RecordLayout::Unpack(std::span<const std::byte> record,
                          std::span<std::byte* const> memory) const {
  for (size_t f = 0; f < fields_.size(); ++f) {
    const size_t value = DTypeSize(fields_[f].dtype);
    const size_t bytes = static_cast<size_t>(NumValues(fields_[f].shape)) * value;
    if (bytes == 0) continue;
    std::memcpy(memory[f], record.data() + fields_[f].offset, bytes);
    if (options_.big_endian) ReverseBytes(memory[f], bytes, value);
  }
}

}  // namespace stoker
