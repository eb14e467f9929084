#include "stoker/data/sources/shard_rows_internal.h"

#include <algorithm>
#include <array>

#include "stoker/base/json_text.h"
#include "stoker/data/core/copy_runs.h"
#include "stoker/data/core/room_in.h"
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
          DumpJson(RecordFieldsToJson(file.schema().fields)), rows.files_.front().name(),
          DumpJson(RecordFieldsToJson(rows.schema().fields)));
    }
    STOKER_RETURN_IF_ERROR(rows.classes_.Add(path, file.schema().classes));
    rows.starts_.Add(file.size());
    rows.files_.push_back(std::move(file));
    rows.AddPagesOf(rows.files_.size() - 1);
  }
  rows.pages_.push_back({.first = rows.size(), .file = 0, .number = 0});
  rows.shared_ = rows.files_.front().file().present();
  rows.pages_per_record_ = PagesPerRecord(rows.files_);
  return rows;
}

void ShardRows::AddPagesOf(size_t file) {
  const ShardFile& from = files_[file];
  for (int64_t page = 0; page < from.pages(); ++page) {
    pages_.push_back(
        {.first = starts_.begin(file) + from.page(page).first, .file = file, .number = page});
    for (size_t f = 0; f < schema().fields.size(); ++f)
      values_.push_back(IsFullyKnown(schema().fields[f].shape)
                            ? from.file().bytes().data() + from.Values(page, f)
                            : nullptr);
  }
}

std::string ShardRows::NameOf(int64_t position) const {
  const auto [file, number] = starts_.At(position);
  return fmt::format("{}: record {}", files_[file].name(), number);
}

Result<std::vector<Array>> ShardRows::Read(int64_t position, Scratch& scratch) const {
  const auto [file, number] = starts_.At(position);
  return files_[file].Read(number, RoomIn(scratch));
}

size_t ShardRows::PageOf(int64_t position) const {
  const auto guess = static_cast<int64_t>(static_cast<double>(position) * pages_per_record_);
  const int64_t pages = std::ssize(pages_) - 1;
  return static_cast<size_t>(
      LastNotAbove(position, pages, std::min(guess, pages - 1),
                   [this](int64_t page) { return pages_[static_cast<size_t>(page)].first; }));
}

size_t ShardRows::FindRuns(std::span<const int64_t>& positions, std::span<Run> runs) const {
  size_t found = 0;
  for (; found < runs.size() && !positions.empty(); ++found) {
    const int64_t first = positions.front();
    const size_t page = PageOf(first);
    const size_t most =
        std::min(positions.size(), static_cast<size_t>(pages_[page + 1].first - first));
    size_t count = 1;
    while (count < most && positions[count] == first + static_cast<int64_t>(count)) ++count;
    runs[found] = {page, first - pages_[page].first, static_cast<int64_t>(count)};
    positions = positions.subspan(count);
  }
  return found;
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

Status ShardRows::CopyField(size_t field, std::span<const Run> runs, size_t record_bytes,
                            std::byte* to) const {
  std::array<MemoryRun, kRunsAtOnce> places;
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto& [page, first, records] = runs[i];
    const std::byte* const values = values_[page * schema().fields.size() + field];
    places[i] = {values + static_cast<size_t>(first) * record_bytes,
                 static_cast<size_t>(records) * record_bytes};
  }
  const auto wanted = std::span(places).first(runs.size());
  if (shared_) {
    CopyRuns(wanted, to);
    return OkStatus();
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    const FileBytes& file = files_[pages_[runs[i].page].file].file();
    const auto at = static_cast<uint64_t>(wanted[i].from - file.bytes().data());
    STOKER_RETURN_IF_ERROR(file.ReadAt(at, {to, wanted[i].bytes}));
    to += wanted[i].bytes;
  }
  return OkStatus();
}

Result<std::vector<Array>> ShardRows::Gather(std::span<const int64_t> positions,
                                             Scratch& scratch) const {
  const std::span<const ElementField> fields = schema().fields;
  const size_t wanted = positions.size();
  std::vector<Array> columns;
  columns.reserve(fields.size());
  for (const ElementField& field : fields)
    columns.push_back(scratch.NewRows(std::ssize(positions), field.dtype, field.shape));
  // Some runs at a time, so that they lie on the stack: lists of all would be as large as what
  // malloc takes a lock for.
  std::array<Run, kRunsAtOnce> room;
  while (!positions.empty()) {
    const size_t done = wanted - positions.size();
    const auto runs = std::span<const Run>(room).first(FindRuns(positions, room));
    STOKER_RETURN_IF_ERROR(CheckRuns(runs));
    for (size_t f = 0; f < fields.size(); ++f) {
      const size_t record_bytes = columns[f].num_bytes() / wanted;
      STOKER_RETURN_IF_ERROR(
          CopyField(f, runs, record_bytes, columns[f].data() + done * record_bytes));
    }
  }
  return columns;
}

}  // namespace stoker
