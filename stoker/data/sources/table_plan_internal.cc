#include "stoker/data/sources/table_plan_internal.h"

#include <optional>
#include <span>
#include <utility>

#include "stoker/base/config.h"
#include "stoker/data/core/fill_value.h"
#include "stoker/formats/number.h"

namespace stoker {
namespace {

std::vector<std::string> PathsOf(const TableFile& table) {
  std::vector<std::string> paths;
  for (const TableColumn& column : table.columns()) paths.push_back(column.path);
  return paths;
}

// The column of a field. Errors: kInvalidArgument, naming the file.
Result<const TableColumn*> ColumnOf(const TableFile& table, const std::string& file,
                                    const std::string& path) {
  const TableColumn* const column = table.Find(path);
  if (column == nullptr)
    return InvalidArgument("{}: there is no column '{}'; {}", file, path,
                           NameAdvice(path, PathsOf(table)));
  if (!column->unread.empty())
    return InvalidArgument("{}: column '{}' of type {}: {}; or name other columns under `fields`",
                           file, path, column->type, column->unread);
  return column;
}

// The bytes of what stands for a null.
Result<std::optional<std::string>> NullValueOf(const TableField& field, const Field& out) {
  if (field.nulls.empty()) return std::optional<std::string>();
  const std::string& text = field.nulls.front();
  if (field.nulls.size() > 1)
    return InvalidArgument("field '{}': nulls has {} values, it is one", field.name,
                           field.nulls.size());
  const bool is_text = out.dtype == DType::kUInt8 && out.shape == Shape{kUnknownDim};
  if (is_text) return std::optional(text);
  if (out.dtype == DType::kInt64) {  // of which a double cannot hold all
    int64_t number = 0;
    const NumberFault fault = ParseNumber(text, number);
    if (fault == NumberFault::kTooLarge)
      return InvalidArgument("field '{}': nulls is {}, which int64 cannot hold; choose another",
                             field.name, text);
    if (fault == NumberFault::kNone)
      return std::optional(std::string(reinterpret_cast<const char*>(&number), sizeof(number)));
  }
  double number = 0;
  if (ParseNumber(text, number) != NumberFault::kNone)
    return InvalidArgument("field '{}': nulls is '{}', which is no number; it stands for {}",
                           field.name, text, DTypeName(out.dtype));
  STOKER_ASSIGN_OR_RETURN(const FillValue value, MakeFillValue("field", "nulls", number, out));
  return std::optional(
      std::string(reinterpret_cast<const char*>(value.bytes), DTypeSize(out.dtype)));
}

}  // namespace

void TableField::Describe(OptionTable<TableField>& table) {
  table.Field("column", &TableField::column, "the column, of a struct's field its path: meta.id")
      .Required()
      .Field("nulls", &TableField::nulls,
             "what stands for a null; where nothing is named, a row with one is an error");
}

Result<TablePlan> PlanTable(const TableFile& table, const std::string& file,
                            const TableFields& fields) {
  TablePlan plan;
  for (const TableField& field : fields.fields()) {
    STOKER_ASSIGN_OR_RETURN(const TableColumn* const column, ColumnOf(table, file, field.column));
    const Field& out =
        plan.spec.fields.emplace_back(Field{field.name, column->dtype, column->row_shape});
    TableSource& source = plan.sources.emplace_back();
    source.wish.path = field.column;
    STOKER_ASSIGN_OR_RETURN(source.wish.null_value, NullValueOf(field, out));
    source.names = column->names;
    source.ragged = !out.shape.empty() && out.shape.front() == kUnknownDim;
    const std::span<const int64_t> item = std::span(out.shape).subspan(source.ragged ? 1 : 0);
    source.item_bytes = static_cast<size_t>(NumValues(item)) * DTypeSize(out.dtype);
  }
  return plan;
}

TableFields AllFieldsOf(const TableFile& table) {
  std::vector<TableField> fields;
  for (const std::string& path : PathsOf(table)) fields.push_back({path, path, {}});
  return TableFields(std::move(fields));
}

}  // namespace stoker
