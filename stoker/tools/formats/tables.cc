#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/ledger.h"
#include "stoker/base/printable.h"
#include "stoker/base/stop_scope.h"
#include "stoker/data/sources/arrow.h"
#include "stoker/data/sources/parquet.h"
#include "stoker/formats/arrow/table_file.h"
#include "stoker/tools/formats/format_rows.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

// How many rows of a column have no value, and why.
struct Faults {
  int64_t nulls = 0, too_large = 0;
};

// Reads one column of all groups. Of a column that Stoker has no arrays for only the pages are
// checked, and no faults are found.
Result<Faults> ReadWhole(const TableFile& table, const std::string& path, bool decode) {
  const TableWish wish{.path = path, .null_value = {}};
  const TableReadOptions options{.most_bytes = static_cast<uint64_t>(DefaultMemoryBudget()),
                                 .stopped = StopScope::Asked};
  Faults faults;
  for (int64_t group = 0; group < std::ssize(table.group_rows()); ++group) {
    if (!decode) {
      STOKER_RETURN_IF_ERROR(table.CheckGroup(group, path, options));
      continue;
    }
    STOKER_ASSIGN_OR_RETURN(const auto decoded, table.ReadGroup(group, {&wish, 1}, options));
    for (const FaultyRow& row : decoded->columns.front().faulty)
      ++(row.fault == TableFault::kNull ? faults.nulls : faults.too_large);
  }
  return faults;
}

// Adds a column to the description, and reads it.
Status AddColumn(const TableFile& table, const TableColumn& column, Json& fields,
                 std::vector<std::vector<std::string>>& lines) {
  Json& field = fields[column.path];
  field["type"] = column.type;
  if (!column.unread.empty()) {
    field["unread"] = column.unread;
    lines.push_back({column.path, "(not read)", "", "", column.type});
    return ReadWhole(table, column.path, /*decode=*/false).status();
  }
  field["dtype"] = DTypeName(column.dtype);
  field["shape"] = column.row_shape;
  lines.push_back({column.path, std::string(DTypeName(column.dtype)),
                   ShapeToString(column.row_shape), "", column.type});
  const Result<Faults> read = ReadWhole(table, column.path, /*decode=*/true);
  if (read.status().code() == StatusCode::kUnimplemented) {
    field["unread"] = read.status().message();
    lines.back()[1] = "(not read)";
    return OkStatus();
  }
  STOKER_ASSIGN_OR_RETURN(const Faults faults, read);
  field["nulls"] = faults.nulls;
  lines.back()[3] = WithThousands(static_cast<double>(faults.nulls));
  if (faults.too_large > 0) {
    field["beyond_int64"] = faults.too_large;
    lines.back()[4] +=
        fmt::format(" ({} beyond int64, which cannot be read)", CountText(faults.too_large, "row"));
  }
  if (column.names.empty()) return OkStatus();
  return ReadWhole(table, column.names, /*decode=*/true).status();
}

Result<Inspection> InspectTable(TableFormat format, const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const auto table, OpenTableFile(format, path));
  int64_t rows = 0, most = 0;
  for (const int64_t of_group : table->group_rows()) {
    rows += of_group;
    most = std::max(most, of_group);
  }
  Inspection out;
  Json fields = Json::object();
  std::vector<std::vector<std::string>> lines = {
      {"column", "type", "shape of a row", "nulls", "in the file"}};
  for (const TableColumn& column : table->columns()) {
    Status read = AddColumn(*table, column, fields, lines);
    if (!read.ok() && read.code() != StatusCode::kDataLoss) return read;
    if (out.damage.ok()) out.damage = std::move(read);
  }
  const bool parquet = format == TableFormat::kParquet;
  const int64_t groups = std::ssize(table->group_rows());
  out.json = {{"file", path},
              {"format", parquet ? "parquet" : "arrow"},
              {"count", rows},
              {"groups", groups},
              {"rows_of_a_group", most},
              {"fields", std::move(fields)}};
  out.text = fmt::format(
      "{}: {}, {} in {} of at most {} rows{}\n", Printable(path), TableFormatName(format),
      CountText(rows, "row"),
      CountText(groups, TableGroupName(format), parquet ? "row groups" : "record batches"),
      WithThousands(static_cast<double>(most)), out.damage.ok() ? "; whole" : "; damaged");
  out.text += TableText(lines, 2);
  return out;
}

// The columns that can be read.
TableFields FieldsRead(const Json& inspected) {
  std::vector<TableField> fields;
  for (const auto& [name, field] : inspected["fields"].items()) {
    if (!field.contains("unread")) fields.push_back({name, name, {}});
  }
  return TableFields(std::move(fields));
}

}  // namespace

const FileFormat kParquetFormat = {
    .name = "parquet",
    .holds = [](const ProbedFile& file) -> Result<bool> {
      return file.stored == FileKind::kParquet;
    },
    .checks = "that every column can be decoded, and the checksums of the pages that have some",
    .inspect =
        [](const ProbedFile& file) { return InspectTable(TableFormat::kParquet, file.path); },
    .recipe = [](const ProbedFile& file) { return fmt::format("parquet: {}", file.path); },
    .open =
        [](const std::string& path, const Json& inspected) {
          return Source(Parquet{.files = path, .fields = FieldsRead(inspected), .cache = 0});
        },
    .reads_groups = true,
    .pack = [](const std::string& files) { return PackSourceOf(Parquet{.files = files}); },
};

const FileFormat kArrowFormat = {
    .name = "arrow",
    .holds = [](const ProbedFile& file) -> Result<bool> { return file.stored == FileKind::kArrow; },
    .checks = "that every column can be decoded",
    .inspect = [](const ProbedFile& file) { return InspectTable(TableFormat::kArrow, file.path); },
    .recipe = [](const ProbedFile& file) { return fmt::format("arrow: {}", file.path); },
    .open =
        [](const std::string& path, const Json& inspected) {
          return Source(Arrow{.files = path, .fields = FieldsRead(inspected), .cache = 0});
        },
    .reads_groups = true,
    .pack = [](const std::string& files) { return PackSourceOf(Arrow{.files = files}); },
};

}  // namespace stoker
