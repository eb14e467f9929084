#include "stoker/formats/arrow/table_plugin.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace stoker {

const TableColumn* PlannedTable::Find(std::string_view path) const {
  const ColumnPlan* const plan = FindPlan(plans_, path);
  return plan == nullptr ? nullptr : &plan->column;
}

void PlannedTable::SetColumns(std::vector<ColumnPlan> plans) {
  plans_ = std::move(plans);
  listed_ = ListedColumns(plans_);
}

Status PlannedTable::SetGroupRows(std::vector<int64_t> rows) {
  int64_t all = 0;
  for (size_t group = 0; group < rows.size(); ++group) {
    if (rows[group] >= 0 && !__builtin_add_overflow(all, rows[group], &all)) continue;
    return DataLoss("{}: {} {} announces {} rows; the file is damaged, fetch or write it again",
                    name(), TableGroupName(format()), group, rows[group]);
  }
  group_rows_ = std::move(rows);
  return OkStatus();
}

std::string PlannedTable::NameOfGroup(int64_t group) const {
  return fmt::format("{}: {} {}", name(), TableGroupName(format()), group);
}

Result<std::shared_ptr<const DecodedGroup>> PlannedTable::ReadGroup(
    int64_t group, std::span<const TableWish> wishes, const TableReadOptions& options) const {
  std::vector<const ColumnPlan*> wanted;
  for (const TableWish& wish : wishes) {
    wanted.push_back(FindPlan(plans_, wish.path));
    if (wanted.back() == nullptr || !wanted.back()->column.unread.empty())
      return Internal("{}: column '{}' was not looked up", name(), wish.path);
  }
  const int64_t rows = group_rows_.at(static_cast<size_t>(group));
  const auto pool = std::make_shared<LimitedPool>(options);
  Reading reading{group, std::make_shared<InputFile>(input_, pool.get()), pool};
  auto out = std::make_shared<DecodedGroup>();
  out->rows = rows;
  out->owners.push_back(reading.pool);  // the last to go
  STOKER_RETURN_IF_ERROR(Guarded(NameOfGroup(group), *reading.file, *reading.pool,
                                 [&] { return BeginGroup(reading, wanted); }));
  for (size_t i = 0; i < wanted.size(); ++i) {
    const std::string where = fmt::format("{}, column '{}'", NameOfGroup(group), wishes[i].path);
    const auto read = [&] {
      ColumnDecoder decoder(*wanted[i], wishes[i].null_value, reading.pool);
      ARROW_RETURN_NOT_OK(ReadColumn(reading, *wanted[i], decoder));
      if (decoder.rows() != rows)
        return arrow::Status::Invalid(rows, " rows are announced, and there are ", decoder.rows());
      return decoder.Finish(*out);
    };
    STOKER_RETURN_IF_ERROR(Guarded(where, *reading.file, *reading.pool, read));
  }
  reading.batch.reset();
  reading.opened.reset();
  out->bytes = static_cast<uint64_t>(std::max<int64_t>(0, reading.pool->bytes_allocated()));
  // Owners are destroyed from the first to the last, and the pool must outlive what it gave.
  std::ranges::reverse(out->owners);
  return std::shared_ptr<const DecodedGroup>(std::move(out));
}

Status PlannedTable::CheckGroup(int64_t group, std::string_view path,
                                const TableReadOptions& options) const {
  const ColumnPlan* const plan = FindPlan(plans_, path);
  if (plan == nullptr) return Internal("{}: column '{}' was not looked up", name(), path);
  const auto pool = std::make_shared<LimitedPool>(options);
  Reading reading{group, std::make_shared<InputFile>(input_, pool.get()), pool};
  const std::string where = fmt::format("{}, column '{}'", NameOfGroup(group), path);
  return Guarded(where, *reading.file, *pool, [&] {
    ARROW_RETURN_NOT_OK(BeginGroup(reading, {plan}));
    return CheckColumn(reading, *plan);
  });
}

Result<std::string> ReadStart(const TableInput& input, size_t bytes) {
  std::string start(std::min<uint64_t>(bytes, input.size()), '\0');
  STOKER_RETURN_IF_ERROR(input.ReadAt(0, std::as_writable_bytes(std::span(start))));
  return start;
}

}  // namespace stoker

extern "C" {

__attribute__((visibility("default"))) const char* StokerArrowTag() { return STOKER_PLUGIN_TAG; }

__attribute__((visibility("default"))) void StokerOpenTable(
    stoker::TableFormat format, std::shared_ptr<const stoker::TableInput> input,
    stoker::Result<std::shared_ptr<const stoker::TableFile>>* out) {
  *out = format == stoker::TableFormat::kParquet ? stoker::OpenParquet(std::move(input))
                                                 : stoker::OpenArrow(std::move(input));
}
}
