#include "stoker/data/sources/shard_rows_internal.h"

#include <algorithm>

#include "stoker/data/copy_runs.h"
#include "stoker/formats/shard/even_steps.h"

namespace stoker {
namespace {

// Pages have about as many records each, but for the last of a file.
double PagesPerRecord(std::span<const ShardFile> files) {
  int64_t pages = 0, records = 0;
  for (const ShardFile& file : files) {
    if (file.pages() == 0) continue;
    const int64_t counted = std::max<int64_t>(1, file.pages() - 1);
    pages += counted;
    records += file.pages() > 1 ? file.page(counted).first : file.size();
  }
  return static_cast<double>(pages) / static_cast<double>(std::max<int64_t>(1, records));
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
    rows.AddPagesOf(rows.files_.size() - 1);
  }
  rows.pages_.push_back({.first = rows.size(), .file = 0, .number = 0});
  rows.pages_per_record_ = PagesPerRecord(rows.files_);
  return rows;
}

void ShardRows::AddPagesOf(size_t file) {
  const ShardFile& from = files_[file];
  for (int64_t page = 0; page < from.pages(); ++page) {
    pages_.push_back(
        {.first = starts_[file] + from.page(page).first, .file = file, .number = page});
    for (size_t f = 0; f < schema().fields.size(); ++f)
      values_.push_back(IsFullyKnown(schema().fields[f].shape) ? from.Values(page, f) : nullptr);
  }
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

Status ShardRows::CheckRuns(std::span<const Run> runs) const {
  const ShardFile* whole = nullptr;  // the last one that has been checked as a whole
  for (const Run& run : runs) {
    const Page& page = pages_[run.page];
    const ShardFile& file = files_[page.file];
    if (&file == whole) continue;
    if (file.all_checked()) {
      whole = &file;
      continue;
    }
    for (size_t f = 0; f < schema().fields.size(); ++f)
      STOKER_RETURN_IF_ERROR(file.CheckValues(page.number, f, run.first, run.records));
  }
  return OkStatus();
}

Result<std::vector<Array>> ShardRows::Gather(std::span<const int64_t> positions,
                                             Scratch& scratch) const {
  const std::vector<Run> runs = RunsOf(positions);
  STOKER_RETURN_IF_ERROR(CheckRuns(runs));
  const std::span<const ElementField> fields = schema().fields;
  std::vector<Array> columns;
  std::vector<MemoryRun> places(runs.size());
  for (size_t f = 0; f < fields.size(); ++f) {
    Shape shape = fields[f].shape;
    shape.insert(shape.begin(), std::ssize(positions));
    Array& out = columns.emplace_back(scratch.NewArray(fields[f].dtype, std::move(shape)));
    const size_t record_bytes = out.num_bytes() / positions.size();
    for (size_t i = 0; i < runs.size(); ++i) {
      const auto& [page, first, records] = runs[i];
      places[i] = {values_[page * fields.size() + f] + static_cast<size_t>(first) * record_bytes,
                   static_cast<size_t>(records) * record_bytes};
    }
    CopyRuns(places, out.data());
  }
  return columns;
}

}  // namespace stoker
