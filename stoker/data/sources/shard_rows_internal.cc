#include "stoker/data/sources/shard_rows_internal.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace stoker {
namespace {

constexpr size_t kCacheLine = 64;
// Runs that will be copied soon are asked for this many ahead: shuffled records come from memory,
// not from the cache. Of a long one the processor finds the rest by itself.
constexpr size_t kPrefetchRuns = 4;
constexpr size_t kMostPrefetched = 4096;

void Prefetch(const std::byte* values, size_t bytes) {
  for (size_t at = 0; at < std::min(bytes, kMostPrefetched); at += kCacheLine)
    __builtin_prefetch(values + at);
}

}  // namespace

Result<ShardRows> ShardRows::Open(const std::vector<std::string>& paths, ShardChecks checks) {
  ShardRows rows;
  for (const std::string& path : paths) {
    STOKER_ASSIGN_OR_RETURN(ShardFile file, ShardFile::Open(path, checks));
    if (!rows.files_.empty() && file.schema().fields != rows.schema().fields) {
      return InvalidArgument(
          "{}: its fields are {}, those of {} are {}; files of one source must have the same", path,
          RecordFieldsToJson(file.schema().fields).dump(), rows.files_.front().name(),
          RecordFieldsToJson(rows.schema().fields).dump());
    }
    STOKER_RETURN_IF_ERROR(rows.classes_.Add(path, file.schema().classes));
    rows.starts_.push_back(rows.starts_.back() + file.size());
    rows.files_.push_back(std::move(file));
  }
  return rows;
}

size_t ShardRows::FileOf(int64_t position) const {
  if (files_.size() == 1) return 0;
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), position);
  return static_cast<size_t>(next - starts_.begin()) - 1;
}

std::string ShardRows::NameOf(int64_t position) const {
  const size_t file = FileOf(position);
  return fmt::format("{}: record {}", files_[file].name(), position - starts_[file]);
}

Result<std::vector<Array>> ShardRows::Read(int64_t position) const {
  const size_t file = FileOf(position);
  return files_[file].Read(position - starts_[file]);
}

ShardRows::Run ShardRows::RunAt(std::span<const int64_t> positions) const {
  const size_t number = FileOf(positions.front());
  const ShardFile& file = files_[number];
  const int64_t record = positions.front() - starts_[number];
  const int64_t page_number = file.PageOf(record);
  const ShardFile::Page page = file.page(page_number);
  const int64_t most = std::min(std::ssize(positions), page.first + page.records - record);
  const int64_t* const next = positions.data();
  int64_t count = 1;
  while (count < most && next[count] == next[0] + count) ++count;
  return {&file, page_number, record - page.first, count};
}

Result<Array> ShardRows::GatherField(size_t field, std::span<const Run> runs, int64_t records,
                                     Scratch& scratch) const {
  const ElementField& described = schema().fields[field];
  Shape shape = described.shape;
  shape.insert(shape.begin(), records);
  Array out = scratch.NewArray(described.dtype, std::move(shape));
  const size_t record_bytes = out.num_bytes() / static_cast<size_t>(records);
  if (record_bytes == 0) return out;

  std::array<const std::byte*, kPrefetchRuns> ahead;  // of the next runs, by their number
  const auto find = [&](size_t run) -> Status {
    const auto& [file, page, first, count] = runs[run];
    STOKER_ASSIGN_OR_RETURN(const std::byte* const values, file->Values(page, field, first, count));
    Prefetch(values, static_cast<size_t>(count) * record_bytes);
    ahead[run % kPrefetchRuns] = values;
    return OkStatus();
  };
  for (size_t run = 0; run < std::min(runs.size(), kPrefetchRuns); ++run)
    STOKER_RETURN_IF_ERROR(find(run));
  std::byte* to = out.data();
  for (size_t run = 0; run < runs.size(); ++run) {
    const size_t bytes = static_cast<size_t>(runs[run].records) * record_bytes;
    std::memcpy(to, ahead[run % kPrefetchRuns], bytes);
    to += bytes;
    if (run + kPrefetchRuns < runs.size()) STOKER_RETURN_IF_ERROR(find(run + kPrefetchRuns));
  }
  return out;
}

Result<std::vector<Array>> ShardRows::Gather(std::span<const int64_t> positions,
                                             Scratch& scratch) const {
  std::vector<Run> runs;
  for (size_t i = 0; i < positions.size(); i += static_cast<size_t>(runs.back().records))
    runs.push_back(RunAt(positions.subspan(i)));
  std::vector<Array> columns;
  for (size_t f = 0; f < schema().fields.size(); ++f) {
    STOKER_ASSIGN_OR_RETURN(Array column, GatherField(f, runs, std::ssize(positions), scratch));
    columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace stoker
