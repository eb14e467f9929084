#include "stoker/formats/shard/shard_content_internal.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "stoker/io/checksum.h"

namespace stoker::internal {
namespace {

template <typename T>
std::span<const std::byte> BytesOf(const T& object) {
  return std::as_bytes(std::span(&object, 1));
}

bool IsMagic(const char (&found)[8], std::string_view magic) {
  return std::string_view(found, sizeof(found)) == magic;
}

// Gives where the schema ends.
Result<uint64_t> ParseHeader(std::span<const std::byte> bytes, ShardContent& content) {
  ShardHeader header;
  if (bytes.size() < sizeof(header)) {
    return DataLoss("{}: byte 0: {} bytes are too few for a .stoker file", content.name(),
                    bytes.size());
  }
  STOKER_RETURN_IF_ERROR(content.file.Load(0, sizeof(header)));
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (!IsMagic(header.magic, kShardMagic))
    return DataLoss("{}: byte 0: this is no .stoker file; check the path", content.name());
  if (header.version == 0 || header.version > kShardVersion) {
    return Unimplemented(
        "{}: byte 8: this is version {} of the format, and at most {} is known; "
        "use a newer stoker",
        content.name(), header.version, kShardVersion);
  }
  if (header.checksum != Crc32c(BytesOf(header).subspan(kShardHeaderUnchecked)))
    return content.DamagedAt(0, "the header does not have its checksum");
  if (header.schema_bytes > bytes.size() - sizeof(header))
    return content.DamagedAt(sizeof(header), "the file ends within the schema");
  STOKER_RETURN_IF_ERROR(content.file.Load(sizeof(header), header.schema_bytes));
  const std::span<const std::byte> text = bytes.subspan(sizeof(header), header.schema_bytes);
  if (header.schema_checksum != Crc32c(text))
    return content.DamagedAt(sizeof(header), "the schema does not have its checksum");
  Result<ShardSchema> schema =
      ParseRecordSchema({reinterpret_cast<const char*>(text.data()), text.size()});
  if (!schema.ok()) return content.DamagedAt(sizeof(header), schema.status().message());
  content.schema = *std::move(schema);
  for (const ElementField& field : content.schema.fields) content.columns.emplace_back(field);
  return sizeof(header) + header.schema_bytes;
}

// What no sum of a whole file's trailer contradicts.
bool Plausible(const ShardTrailer& trailer, uint64_t footer_end, size_t entry_words) {
  if (trailer.footer > footer_end || trailer.footer % kShardAlignment != 0) return false;
  if (trailer.block_bytes != kShardBlockBytes) return false;
  const uint64_t room = footer_end - trailer.footer;
  const uint64_t entry_bytes = entry_words * sizeof(uint64_t);
  if (trailer.pages > room / entry_bytes || trailer.blocks > room / sizeof(uint32_t)) return false;
  const uint64_t used = trailer.pages * entry_bytes + trailer.blocks * sizeof(uint32_t);
  const uint64_t blocks = (trailer.footer + kShardBlockBytes - 1) / kShardBlockBytes;
  return trailer.blocks == blocks && ShardPadded(used, sizeof(uint64_t)) == room;
}

Status ParseTrailer(std::span<const std::byte> bytes, uint64_t schema_end, ShardContent& content) {
  if (bytes.size() < schema_end + sizeof(ShardTrailer) || bytes.size() % sizeof(uint64_t) != 0) {
    return content.DamagedAt(bytes.size(), "the file is cut short: its end is missing");
  }
  const uint64_t at = bytes.size() - sizeof(ShardTrailer);
  ShardTrailer& trailer = content.trailer;
  STOKER_RETURN_IF_ERROR(content.file.Load(at, sizeof(trailer)));
  std::memcpy(&trailer, bytes.data() + at, sizeof(trailer));
  if (!IsMagic(trailer.magic, kShardEndMagic) ||
      trailer.checksum != Crc32c(BytesOf(trailer).first(kShardTrailerChecked))) {
    return content.DamagedAt(
        at, "the end of the file does not have its checksum; it is cut short or damaged");
  }
  if (trailer.footer < schema_end || !Plausible(trailer, at, content.entry_words()))
    return content.DamagedAt(at, "the footer does not fit the file");
  STOKER_RETURN_IF_ERROR(content.file.Load(trailer.footer, at - trailer.footer));
  const std::span<const std::byte> footer = bytes.subspan(trailer.footer, at - trailer.footer);
  if (trailer.footer_checksum != Crc32c(footer))
    return content.DamagedAt(trailer.footer, "the footer does not have its checksum");
  const size_t table_words = trailer.pages * content.entry_words();
  content.table = {reinterpret_cast<const uint64_t*>(footer.data()), table_words};
  content.checksums = {
      reinterpret_cast<const uint32_t*>(footer.data() + table_words * sizeof(uint64_t)),
      trailer.blocks};
  return OkStatus();
}

bool ColumnsFit(const ShardContent& content, int64_t page, uint64_t records) {
  uint64_t before = 0;
  for (size_t f = 0; f < content.columns.size(); ++f) {
    const uint64_t begin = content.column(page, f), end = content.column_end(page, f);
    if (begin < before || begin > end || begin % kShardAlignment != 0) return false;
    before = begin;
    const ShardColumn& column = content.columns[f];
    const bool fits =
        column.fixed() ? column.record_bytes == 0 || records <= (end - begin) / column.record_bytes
                       : column.LeadBytes(records) <= end - begin;
    if (!fits) return false;
  }
  return true;
}

// The checksum says that the footer was written so, not that what it says lies in the file.
Status CheckPages(uint64_t schema_end, const ShardContent& content) {
  uint64_t records = 0, end = schema_end;
  for (int64_t p = 0; p < static_cast<int64_t>(content.trailer.pages); ++p) {
    ShardPageEntry page;
    std::memcpy(&page, content.entry(p), sizeof(page));
    const uint64_t footer = content.trailer.footer;
    const bool fits = page.begin >= end && page.begin <= footer &&
                      page.begin % kShardAlignment == 0 && page.bytes <= footer - page.begin &&
                      page.first == records && page.records > 0 &&
                      page.records <= kMostShardPageRecords && ColumnsFit(content, p, page.records);
    if (!fits) {
      const auto entry = reinterpret_cast<const std::byte*>(content.entry(p));
      return content.DamagedAt(static_cast<uint64_t>(entry - content.bytes().data()),
                               "the footer tells of a page that does not fit the file");
    }
    records += page.records;
    end = page.begin + page.bytes;
  }
  if (records == content.trailer.records) return OkStatus();
  return content.DamagedAt(content.bytes().size() - sizeof(ShardTrailer),
                           "the pages do not have as many records as the file");
}

}  // namespace

Status ParseShard(ShardContent& content) {
  const std::span<const std::byte> bytes = content.bytes();
  STOKER_ASSIGN_OR_RETURN(const uint64_t schema_end, ParseHeader(bytes, content));
  STOKER_RETURN_IF_ERROR(ParseTrailer(bytes, schema_end, content));
  return CheckPages(schema_end, content);
}

}  // namespace stoker::internal
