#include "stoker/formats/shard/shard_file.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "stoker/formats/shard/even_steps.h"
#include "stoker/formats/shard/shard_content_internal.h"
#include "stoker/io/checksum.h"

namespace stoker {

namespace {

uint32_t LoadU32(const std::byte* from, uint64_t index) {
  uint32_t value = 0;
  std::memcpy(&value, from + index * sizeof(value), sizeof(value));
  return value;
}

// `shape` with its unknown extents taken from where `extents` points.
Shape KnownShape(const Shape& shape, const std::byte* extents) {
  Shape known = shape;
  uint64_t next = 0;
  for (int64_t& extent : known)
    if (extent == kUnknownDim) extent = LoadU32(extents, next++);
  return known;
}

}  // namespace

Status internal::ShardContent::DamagedAt(uint64_t at, std::string_view what) const {
  return DataLoss("{}: byte {}: {}; the file is damaged: make it again, or take it out", name(), at,
                  what);
}

Result<bool> internal::ShardContent::BlockIsWhole(uint64_t block) const {
  const uint64_t begin = block * internal::kShardBlockBytes;
  const uint64_t bytes = std::min<uint64_t>(internal::kShardBlockBytes, trailer.footer - begin);
  thread_local Buffer room;
  STOKER_ASSIGN_OR_RETURN(const std::span<const std::byte> content, file.View(begin, bytes, room));
  return Crc32c(content) == checksums[block];
}

Status internal::ShardContent::Check(uint64_t begin, uint64_t bytes) const {
  if (checks == ShardChecks::kNone || bytes == 0) return OkStatus();
  const uint64_t last = (begin + bytes - 1) / internal::kShardBlockBytes;
  for (uint64_t block = begin / internal::kShardBlockBytes; block <= last; ++block) {
    if (checked[block].load(std::memory_order_relaxed)) continue;
    STOKER_ASSIGN_OR_RETURN(const bool whole, BlockIsWhole(block));
    if (!whole) {
      return DamagedAt(block * internal::kShardBlockBytes,
                       "the block that begins here does not have its checksum");
    }
    if (!checked[block].exchange(true, std::memory_order_relaxed))
      unchecked.fetch_sub(1, std::memory_order_relaxed);
  }
  return OkStatus();
}

Result<ShardFile> ShardFile::Open(const std::string& path, ShardChecks checks) {
  STOKER_ASSIGN_OR_RETURN(FileBytes file, FileBytes::Open(path));
  return Parse(std::move(file), checks);
}

Result<ShardFile> ShardFile::Parse(Buffer bytes, std::string name, ShardChecks checks) {
  return Parse(FileBytes::Of(std::move(bytes), std::move(name)), checks);
}

Result<ShardFile> ShardFile::Parse(FileBytes file, ShardChecks checks) {
  auto content = std::make_shared<internal::ShardContent>(std::move(file));
  content->checks = checks;
  STOKER_RETURN_IF_ERROR(internal::ParseShard(*content));
  content->pages_per_record =
      static_cast<double>(content->trailer.pages) / static_cast<double>(content->trailer.records);
  if (checks == ShardChecks::kOnFirstRead) {
    content->checked = std::make_unique<std::atomic<bool>[]>(content->trailer.blocks);
    content->unchecked = content->trailer.blocks;
  }
  return ShardFile(std::move(content));
}

const std::string& ShardFile::name() const { return content_->name(); }
const ShardSchema& ShardFile::schema() const { return content_->schema; }
int64_t ShardFile::size() const { return static_cast<int64_t>(content_->trailer.records); }
uint64_t ShardFile::bytes() const { return content_->file.size(); }
const FileBytes& ShardFile::file() const { return content_->file; }
int64_t ShardFile::pages() const { return static_cast<int64_t>(content_->trailer.pages); }
int64_t ShardFile::blocks() const { return static_cast<int64_t>(content_->trailer.blocks); }

ShardFile::Page ShardFile::page(int64_t number) const {
  internal::ShardPageEntry entry;
  std::memcpy(&entry, content_->entry(number), sizeof(entry));
  return {.first = static_cast<int64_t>(entry.first),
          .records = static_cast<int64_t>(entry.records),
          .begin = entry.begin,
          .bytes = entry.bytes};
}

int64_t ShardFile::PageOf(int64_t record) const {
  // Where pages have about as many records each, the guess is right or a step away.
  const auto guess = static_cast<int64_t>(static_cast<double>(record) * content_->pages_per_record);
  return LastNotAbove(record, pages(), std::min(guess, pages() - 1), [this](int64_t page) {
    return static_cast<int64_t>(content_->entry(page)[2]);
  });
}

uint64_t ShardFile::Values(int64_t page, size_t field) const {
  return content_->entry(page)[0] + content_->column(page, field);
}

Status ShardFile::CheckValues(int64_t page, size_t field, int64_t first, int64_t records) const {
  const uint64_t size = content_->columns[field].record_bytes;
  const uint64_t at = content_->entry(page)[0] + content_->column(page, field) +
                      static_cast<uint64_t>(first) * size;
  return content_->Check(at, static_cast<uint64_t>(records) * size);
}

bool ShardFile::all_checked() const {
  return content_->unchecked.load(std::memory_order_relaxed) == 0;
}

Result<std::vector<Array>> ShardFile::Read(int64_t record, const NewArray& make) const {
  const int64_t page = PageOf(record);
  std::vector<Array> arrays;
  arrays.reserve(content_->columns.size());
  for (size_t f = 0; f < content_->columns.size(); ++f) {
    STOKER_ASSIGN_OR_RETURN(Array array, content_->ReadField(page, f, record, make));
    arrays.push_back(std::move(array));
  }
  return arrays;
}

Result<Array> internal::ShardContent::ArrayAt(uint64_t at, DType dtype, Shape shape,
                                              const NewArray& make) const {
  if (file.present()) return Array(file.buffer(), dtype, std::move(shape), at);
  Array copy = make(dtype, std::move(shape));
  STOKER_RETURN_IF_ERROR(file.ReadAt(at, {copy.data(), copy.num_bytes()}));
  return copy;
}

Result<Array> internal::ShardContent::ReadField(int64_t page, size_t field, int64_t record,
                                                const NewArray& make) const {
  const ElementField& described = schema.fields[field];
  const internal::ShardColumn& column_kind = columns[field];
  const auto records = entry(page)[3];
  const uint64_t row = static_cast<uint64_t>(record) - entry(page)[2];
  const uint64_t begin = entry(page)[0] + column(page, field);
  if (column_kind.fixed()) {
    const uint64_t at = begin + row * column_kind.record_bytes;
    STOKER_RETURN_IF_ERROR(Check(at, column_kind.record_bytes));
    return ArrayAt(at, described.dtype, described.shape, make);
  }
  constexpr uint64_t kWord = sizeof(uint32_t);
  const uint64_t unknown = column_kind.unknown_extents;
  const uint64_t extents_at = begin + (records + row * unknown) * kWord;
  STOKER_RETURN_IF_ERROR(Check(begin + (row == 0 ? 0 : row - 1) * kWord, 2 * kWord));
  STOKER_RETURN_IF_ERROR(Check(extents_at, unknown * kWord));
  // The end of the record before, where there is one, and its own; then its extents.
  std::array<std::byte, 2 * kWord> ends = {};
  STOKER_RETURN_IF_ERROR(row == 0 ? file.ReadAt(begin, std::span(ends).subspan(kWord))
                                  : file.ReadAt(begin + (row - 1) * kWord, ends));
  const uint64_t from = LoadU32(ends.data(), 0), to = LoadU32(ends.data(), 1);
  std::vector<std::byte> extents(unknown * kWord);
  STOKER_RETURN_IF_ERROR(file.ReadAt(extents_at, extents));
  const uint64_t lead = column_kind.LeadBytes(records);
  Shape shape = KnownShape(described.shape, extents.data());
  const uint64_t room = column_end(page, field) - column(page, field) - lead;
  if (from > to || to > room || ArrayBytes(described.dtype, shape) != to - from)
    return DamagedAt(begin + row * kWord,
                     fmt::format("record {} does not lie in its page", record));
  STOKER_RETURN_IF_ERROR(Check(begin + lead + from, to - from));
  return ArrayAt(begin + lead + from, described.dtype, std::move(shape), make);
}

bool ShardFile::CheckBlock(int64_t number) const {
  const Result<bool> whole = content_->BlockIsWhole(static_cast<uint64_t>(number));
  return whole.ok() && *whole;
}

ShardFile::Damage ShardFile::DamageOf(int64_t number) const {
  const uint64_t begin = static_cast<uint64_t>(number) * internal::kShardBlockBytes;
  Damage damage{
      .begin = begin,
      .bytes = std::min<uint64_t>(internal::kShardBlockBytes, content_->trailer.footer - begin)};
  for (int64_t p = 0; p < pages(); ++p) {
    const Page found = page(p);
    if (found.begin >= begin + damage.bytes || found.begin + found.bytes <= begin) continue;
    if (damage.records == 0) damage.first = found.first;
    damage.records += found.records;
  }
  return damage;
}

}  // namespace stoker
