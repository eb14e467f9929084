#include "stoker/formats/shard/shard_writer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <unordered_set>

#include "stoker/formats/shard/shard_layout_internal.h"
#include "stoker/io/checksum.h"

namespace stoker {
namespace {

using internal::ShardColumn;

constexpr uint64_t kMostColumnBytes = std::numeric_limits<uint32_t>::max();

template <typename T>
std::span<const std::byte> BytesOf(const T& object) {
  return std::as_bytes(std::span(&object, 1));
}

Status CheckSchema(const ShardSchema& schema) {
  if (schema.fields.empty()) return InvalidArgument("a shard needs at least one field");
  std::unordered_set<std::string_view> names;
  for (const ElementField& field : schema.fields) {
    if (!names.insert(field.name).second)
      return InvalidArgument("two fields are called '{}'; give each a name of its own", field.name);
  }
  return OkStatus();
}

bool Fits(const ElementField& field, const Array& array) {
  if (array.dtype() != field.dtype || array.shape().size() != field.shape.size()) return false;
  return std::ranges::equal(field.shape, array.shape(), [](int64_t wanted, int64_t extent) {
    return wanted == kUnknownDim || wanted == extent;
  });
}

}  // namespace

Result<ShardWriter> ShardWriter::Create(const std::string& path, const ShardSchema& schema,
                                        uint64_t page_bytes) {
  STOKER_RETURN_IF_ERROR(CheckSchema(schema).While(path));
  STOKER_ASSIGN_OR_RETURN(AtomicFileWriter file, AtomicFileWriter::Create(path));
  const std::string text = RecordSchemaToText(schema);
  internal::ShardHeader header{.version = internal::kShardVersion,
                               .schema_bytes = static_cast<uint32_t>(text.size()),
                               .schema_checksum = Crc32c(text),
                               .page_bytes = page_bytes};
  std::ranges::copy(internal::kShardMagic, header.magic);
  header.checksum = Crc32c(BytesOf(header).subspan(internal::kShardHeaderUnchecked));
  ShardWriter writer(std::move(file), path, schema, page_bytes);
  STOKER_RETURN_IF_ERROR(writer.Write(BytesOf(header)));
  STOKER_RETURN_IF_ERROR(writer.Write(std::as_bytes(std::span(text))));
  STOKER_RETURN_IF_ERROR(writer.Pad(internal::kShardAlignment));
  return writer;
}

ShardWriter::ShardWriter(AtomicFileWriter file, std::string path, ShardSchema schema,
                         uint64_t page_bytes)
    : file_(std::move(file)),
      path_(std::move(path)),
      schema_(std::move(schema)),
      page_bytes_(page_bytes),
      columns_(schema_.fields.size()) {}

Status ShardWriter::CheckRecord(std::span<const Array> record) const {
  if (record.size() != schema_.fields.size()) {
    return InvalidArgument("{}: record {} has {} fields, the schema has {}", path_, records_,
                           record.size(), schema_.fields.size());
  }
  for (size_t f = 0; f < record.size(); ++f) {
    const ElementField& field = schema_.fields[f];
    if (!Fits(field, record[f])) {
      return InvalidArgument("{}: record {}: '{}' is {}; the schema says {}{}", path_, records_,
                             field.name, record[f].ToString(), DTypeName(field.dtype),
                             ShapeToString(field.shape));
    }
    const bool long_extent = std::ranges::any_of(
        record[f].shape(), [](int64_t extent) { return extent > int64_t{kMostColumnBytes}; });
    if (!IsFullyKnown(field.shape) && (record[f].num_bytes() > kMostColumnBytes || long_extent)) {
      return InvalidArgument(
          "{}: record {}: '{}' is {}; a field whose shape differs holds at most 4 GiB - 1 in one "
          "record: split it",
          path_, records_, field.name, record[f].ToString());
    }
  }
  return OkStatus();
}

// Whether the offsets of the page still reach.
bool ShardWriter::FitsPage(std::span<const Array> record) const {
  if (page_records_ >= internal::kMostShardPageRecords) return false;
  for (size_t f = 0; f < record.size(); ++f) {
    if (IsFullyKnown(schema_.fields[f].shape)) continue;
    if (columns_[f].values.size() + record[f].num_bytes() > kMostColumnBytes) return false;
  }
  return true;
}

uint64_t ShardWriter::PageBytes() const {
  uint64_t bytes = 0;
  for (const Column& column : columns_)
    bytes += column.values.size() + (column.ends.size() + column.extents.size()) * sizeof(uint32_t);
  return bytes;
}

Status ShardWriter::Append(std::span<const Array> record) {
  STOKER_RETURN_IF_ERROR(CheckRecord(record));
  if (!FitsPage(record)) STOKER_RETURN_IF_ERROR(WritePage());
  for (size_t f = 0; f < record.size(); ++f) {
    const ElementField& field = schema_.fields[f];
    Column& column = columns_[f];
    const std::byte* const values = record[f].data();
    column.values.insert(column.values.end(), values, values + record[f].num_bytes());
    if (IsFullyKnown(field.shape)) continue;
    column.ends.push_back(static_cast<uint32_t>(column.values.size()));
    for (size_t d = 0; d < field.shape.size(); ++d) {
      if (field.shape[d] == kUnknownDim)
        column.extents.push_back(static_cast<uint32_t>(record[f].shape()[d]));
    }
  }
  ++records_;
  ++page_records_;
  return PageBytes() >= page_bytes_ ? WritePage() : OkStatus();
}

Status ShardWriter::Write(std::span<const std::byte> bytes) {
  STOKER_RETURN_IF_ERROR(file_.Append(bytes));
  while (!bytes.empty()) {
    const size_t taken =
        std::min<uint64_t>(bytes.size(), internal::kShardBlockBytes - block_filled_);
    block_checksum_ = Crc32c(bytes.first(taken), block_checksum_);
    block_filled_ += taken;
    bytes = bytes.subspan(taken);
    if (block_filled_ < internal::kShardBlockBytes) break;
    checksums_.push_back(block_checksum_);
    block_checksum_ = 0;
    block_filled_ = 0;
  }
  return OkStatus();
}

Status ShardWriter::Pad(uint64_t alignment) {
  constexpr std::array<std::byte, internal::kShardAlignment> kZeros = {};
  const uint64_t gap = internal::ShardPadded(file_.size(), alignment) - file_.size();
  return Write(std::span(kZeros).first(gap));
}

Status ShardWriter::WritePage() {
  const uint64_t begin = file_.size();
  const size_t entry = table_.size();
  table_.insert(table_.end(),
                {begin, 0, static_cast<uint64_t>(records_) - page_records_, page_records_});
  for (Column& column : columns_) {
    STOKER_RETURN_IF_ERROR(Pad(internal::kShardAlignment));
    table_.push_back(file_.size() - begin);
    if (!column.ends.empty()) {
      STOKER_RETURN_IF_ERROR(Write(std::as_bytes(std::span(column.ends))));
      STOKER_RETURN_IF_ERROR(Write(std::as_bytes(std::span(column.extents))));
      STOKER_RETURN_IF_ERROR(Pad(internal::kShardAlignment));
    }
    STOKER_RETURN_IF_ERROR(Write(column.values));
    column.values.clear();
    column.ends.clear();
    column.extents.clear();
  }
  table_[entry + 1] = file_.size() - begin;
  page_records_ = 0;
  ++pages_;
  return Pad(internal::kShardAlignment);
}

Status ShardWriter::Commit() {
  if (page_records_ > 0) STOKER_RETURN_IF_ERROR(WritePage());
  if (block_filled_ > 0) checksums_.push_back(block_checksum_);
  const uint64_t footer = file_.size();
  // The footer has a checksum of its own.
  std::vector<std::byte> bytes;
  const auto append = [&bytes](std::span<const std::byte> part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  };
  append(std::as_bytes(std::span(table_)));
  append(std::as_bytes(std::span(checksums_)));
  bytes.resize(internal::ShardPadded(bytes.size(), sizeof(uint64_t)));
  internal::ShardTrailer trailer{.records = static_cast<uint64_t>(records_),
                                 .pages = pages_,
                                 .footer = footer,
                                 .blocks = checksums_.size(),
                                 .block_bytes = internal::kShardBlockBytes,
                                 .footer_checksum = Crc32c(bytes)};
  trailer.checksum = Crc32c(BytesOf(trailer).first(internal::kShardTrailerChecked));
  std::ranges::copy(internal::kShardEndMagic, trailer.magic);
  append(BytesOf(trailer));
  STOKER_RETURN_IF_ERROR(file_.Append(bytes));
  return file_.Commit();
}

}  // namespace stoker
