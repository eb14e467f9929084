#include "stoker/data/sources/shard_rows_internal.h"

#include <algorithm>

#include "stoker/data/copy_runs.h"
#include "stoker/formats/shard/even_steps.h"

namespace stoker {

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
    rows.AddPagesOf(rows.files_.size() - 1);
  }
  rows.pages_per_record_ = static_cast<double>(rows.pages_.size()) /
                           static_cast<double>(std::max<int64_t>(1, rows.size()));
  rows.pages_.push_back({.first = rows.size(), .file = 0, .number = 0});
  return rows;
}

void ShardRows::AddPagesOf(size_t file) {
  const int64_t first = starts_[file];
  for (int64_t page = 0; page < files_[file].pages(); ++page)
    pages_.push_back(
        {.first = first + files_[file].page(page).first, .file = file, .number = page});
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

size_t ShardRows::PageOf(int64_t position) const {
  const auto guess = static_cast<int64_t>(static_cast<double>(position) * pages_per_record_);
  const int64_t pages = std::ssize(pages_) - 1;
  return static_cast<size_t>(
      LastNotAbove(position, pages, std::min(guess, pages - 1),
                   [this](int64_t page) { return pages_[static_cast<size_t>(page)].first; }));
}

std::vector<ShardRows::Run> ShardRows::RunsOf(std::span<const int64_t> positions) const {
  std::vector<Run> runs;
  runs.reserve(positions.size());
  for (size_t i = 0; i < positions.size();) {
    const size_t page = PageOf(positions[i]);
    const size_t most =
        std::min(positions.size() - i, static_cast<size_t>(pages_[page + 1].first - positions[i]));
    size_t count = 1;
    while (count < most && positions[i + count] == positions[i] + static_cast<int64_t>(count))
      ++count;
    runs.push_back({page, positions[i] - pages_[page].first, static_cast<int64_t>(count)});
    i += count;
  }
  return runs;
}

Status ShardRows::CheckRuns(std::span<const Run> runs, size_t field) const {
  for (const Run& run : runs) {
    const Page& page = pages_[run.page];
    const ShardFile& file = files_[page.file];
    if (!file.all_checked())
      STOKER_RETURN_IF_ERROR(file.CheckValues(page.number, field, run.first, run.records));
  }
  return OkStatus();
}

Array ShardRows::GatherField(size_t field, std::span<const Run> runs, int64_t records,
                             Scratch& scratch) const {
  const ElementField& described = schema().fields[field];
  Shape shape = described.shape;
  shape.insert(shape.begin(), records);
  Array out = scratch.NewArray(described.dtype, std::move(shape));
  const size_t record_bytes = out.num_bytes() / static_cast<size_t>(records);
  std::vector<MemoryRun> places;
  places.reserve(runs.size());
  for (const Run& run : runs) {
    const Page& page = pages_[run.page];
    const std::byte* const values = files_[page.file].Values(page.number, field);
    places.push_back({values + static_cast<size_t>(run.first) * record_bytes,
                      static_cast<size_t>(run.records) * record_bytes});
  }
  CopyRuns(places, out.data());
  return out;
}

Result<std::vector<Array>> ShardRows::Gather(std::span<const int64_t> positions,
                                             Scratch& scratch) const {
  const std::vector<Run> runs = RunsOf(positions);
  std::vector<Array> columns;
  for (size_t f = 0; f < schema().fields.size(); ++f) {
    STOKER_RETURN_IF_ERROR(CheckRuns(runs, f));
    columns.push_back(GatherField(f, runs, std::ssize(positions), scratch));
  }
  return columns;
}

}  // namespace stoker
