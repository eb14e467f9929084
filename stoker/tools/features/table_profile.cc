#include "stoker/tools/features/table_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "stoker/base/config.h"
#include "stoker/base/printable.h"
#include "stoker/base/random.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/sources/csv.h"
#include "stoker/formats/csv/row_parser.h"
#include "stoker/tools/features/explained_share.h"

namespace stoker {
namespace {

constexpr int64_t kMostWholeClasses = 20;  // of whole numbers that are taken for classes

// Of all columns together.
constexpr size_t kSampledCells = 2'000'000;
constexpr size_t kValues = 2'000'000;
constexpr size_t kMostRows = 50'000;

// Some rows of a table of any length, each as likely as any other (Vitter, "Random sampling with a
// reservoir", 1985, algorithm R). The same ones in every pass.
class RowSample {
 public:
  explicit RowSample(size_t columns)
      : columns_(columns), most_(std::clamp<size_t>(kSampledCells / columns, 100, kMostRows)) {}

  // Returns the place for the cells of the next row; null if it is left out.
  SampledColumn* Take() {
    const uint64_t row = seen_++;
    if (row < most_) {
      for (SampledColumn& column : columns_) column.cells.emplace_back();
      place_ = row;
      return columns_.data();
    }
    place_ = rng_.Below(row + 1);
    return place_ < most_ ? columns_.data() : nullptr;
  }
  size_t place() const { return place_; }

  std::vector<SampledColumn>& columns() { return columns_; }

 private:
  std::vector<SampledColumn> columns_;
  const size_t most_;
  uint64_t seen_ = 0;
  size_t place_ = 0;
  Rng rng_{/*seed=*/0, /*epoch=*/0, /*index=*/0, /*stage=*/0};
};

// Each column as a text: only all of its rows say whether it is one of numbers.
Result<Dataset> CellsOf(const std::string& file) {
  STOKER_ASSIGN_OR_RETURN(const Dataset guessed, Csv{.files = file, .index = "none"}.Build());
  std::vector<CsvField> fields;
  for (const Field& field : guessed.spec().fields)
    fields.push_back({.name = field.name, .type = "text", .default_value = {""}});
  return Csv{.files = file, .fields = CsvFields(std::move(fields)), .index = "none"}.Build();
}

// What tells a cell from others, in bounded memory.
std::string Sampled(std::string_view cell) {
  constexpr size_t kWhole = 40;
  cell = TrimmedCsvCell(cell);
  if (cell.size() <= kWhole) return std::string(cell);
  return fmt::format("{} {:016x}", cell.substr(0, kWhole / 2), std::hash<std::string_view>()(cell));
}

std::string_view TextOf(const Array& cell) {
  return {reinterpret_cast<const char*>(cell.data()), cell.num_bytes()};
}

Result<size_t> ColumnNamed(const std::vector<Field>& fields, const std::string& name) {
  std::vector<std::string> names;
  for (const Field& field : fields) {
    if (field.name == name) return names.size();
    names.push_back(field.name);
  }
  if (!names.empty() && names.front() == "0") {
    return InvalidArgument(
        "--target: there is no column '{}': the first row is taken for data, not for a header, "
        "since "
        "one of its cells is a number or empty; give each column a name there",
        Printable(name));
  }
  return InvalidArgument("--target: there is no column '{}'; {}", Printable(name),
                         NameAdvice(name, names));
}

Status CheckTarget(const ColumnProfile& target, TargetMeaning meaning) {
  const std::string name = Printable(target.name);
  if (target.rows == 0) return InvalidArgument("--target {}: the table has no rows", name);
  if (target.kind == ColumnKind::kEmpty)
    return InvalidArgument("--target {}: every cell of the column is missing", name);
  if (target.IsConstant()) {
    return InvalidArgument("--target {}: is {} in all rows; there is nothing to learn", name,
                           Printable(target.common.front().value));
  }
  if (meaning == TargetMeaning::kNumber && target.kind != ColumnKind::kNumbers) {
    return InvalidArgument(
        "--target {}: is no number everywhere{}; without --as number it is a class", name,
        target.odd ? fmt::format(" (row {} has '{}')", target.odd->row, Printable(target.odd->cell))
                   : "");
  }
  return OkStatus();
}

bool IsNumber(const ColumnProfile& target, TargetMeaning meaning) {
  if (meaning != TargetMeaning::kAuto) return meaning == TargetMeaning::kNumber;
  if (target.kind != ColumnKind::kNumbers) return false;
  return !target.whole || target.more || target.different > kMostWholeClasses;
}

// The column in the rows that have the target.
SampledColumn WithTarget(const SampledColumn& column, const SampledColumn& target) {
  SampledColumn kept{.numbers = column.numbers};
  for (size_t row = 0; row < target.cells.size(); ++row) {
    if (!target.cells[row].empty()) kept.cells.push_back(column.cells[row]);
  }
  return kept;
}

void Relate(TableProfile& table, std::vector<SampledColumn>& sample) {
  for (size_t i = 0; i < table.columns.size(); ++i) {
    sample[i].numbers = table.columns[i].kind == ColumnKind::kNumbers;
    if (!sample[i].numbers) continue;
    for (std::string& cell : sample[i].cells) {
      if (!NumberInCell(cell)) cell.clear();  // a mark of a missing value
    }
  }
  sample[*table.target].numbers = table.target_is_number;
  const SampledColumn target = WithTarget(sample[*table.target], sample[*table.target]);
  table.sampled = std::ssize(target.cells);
  for (size_t i = 0; i < sample.size(); ++i) {
    if (i == *table.target) {
      table.relations.push_back({.explained = 1});
      continue;
    }
    const SampledColumn column = WithTarget(sample[i], sample[*table.target]);
    table.relations.push_back({.explained = ExplainedShare(column, target),
                               .disguised = IsTargetInDisguise(column, target)});
  }
}

Json ColumnJson(const ColumnProfile& column) {
  Json json = {{"name", column.name},       {"kind", NameOf(column.kind)},
               {"missing", column.missing}, {"different", column.different},
               {"more", column.more},       {"repeats", column.repeats}};
  if (!column.marks.empty()) json["marks"] = column.marks;
  constexpr size_t kCommon = 10;
  for (size_t i = 0; i < std::min(column.common.size(), kCommon); ++i)
    json["common"].push_back(
        {{"value", column.common[i].value}, {"count", column.common[i].count}});
  if (column.kind == ColumnKind::kNumbers) {
    json.update({{"whole", column.whole},
                 {"least", column.least},
                 {"greatest", column.greatest},
                 {"mean", column.mean},
                 {"deviation", column.deviation},
                 {"median", column.median},
                 {"histogram", column.histogram}});
  } else if (column.kind == ColumnKind::kTexts) {
    json["mean_length"] = column.mean_length;
    if (column.odd) json["odd"] = {{"cell", column.odd->cell}, {"row", column.odd->row}};
  }
  return json;
}

}  // namespace

Json TableProfile::ToJson() const {
  Json json = {{"schema", 1}, {"file", file}, {"rows", rows}, {"columns", Json::array()}};
  for (size_t i = 0; i < columns.size(); ++i) {
    Json column = ColumnJson(columns[i]);
    if (target && i != *target) {
      column["explains"] = relations[i].explained;
      column["is_target"] = relations[i].disguised;
    }
    json["columns"].push_back(std::move(column));
  }
  if (target) {
    json["target"] = {{"name", columns[*target].name},
                      {"meaning", target_is_number ? "number" : "class"}};
  }
  return json;
}

Result<TableProfile> ProfileTable(const std::string& file, const std::string& target,
                                  TargetMeaning meaning) {
  STOKER_ASSIGN_OR_RETURN(const Dataset cells, CellsOf(file));
  const std::vector<Field>& fields = cells.spec().fields;
  TableProfile table{.file = file};
  if (!target.empty()) {
    STOKER_ASSIGN_OR_RETURN(table.target, ColumnNamed(fields, target));
  }
  const size_t share = kValues / fields.size();
  const ColumnProfiler::Limits limits{
      .different = std::clamp<size_t>(share, 1024, size_t{1} << 20),
      .exact = std::clamp<size_t>(share / 2 * 2, 1024, QuantileSketch::kExact),
      .counted = std::clamp<size_t>(share / 4, 20, 1000)};
  std::vector<ColumnProfiler> profilers;
  for (const Field& field : fields) profilers.emplace_back(field.name, limits);
  RowSample sample(fields.size());
  STOKER_ASSIGN_OR_RETURN(const auto rows,
                          cells.Open(Runtime::Threaded(), {.losses = LossLogging::kNone}));
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<Element> row, rows->Next());
    if (!row) break;
    ++table.rows;
    SampledColumn* const kept = target.empty() ? nullptr : sample.Take();
    for (size_t i = 0; i < fields.size(); ++i) {
      const std::string_view cell = TextOf(row->arrays[i]);
      profilers[i].Add(cell);
      if (kept != nullptr) kept[i].cells[sample.place()] = Sampled(cell);
    }
  }
  for (const ColumnProfiler& profiler : profilers) table.columns.push_back(profiler.Finish());
  if (table.target) {
    STOKER_RETURN_IF_ERROR(CheckTarget(table.columns[*table.target], meaning));
    table.target_is_number = IsNumber(table.columns[*table.target], meaning);
    Relate(table, sample.columns());
  }
  return table;
}

}  // namespace stoker
