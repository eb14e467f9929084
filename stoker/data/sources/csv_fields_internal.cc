#include "stoker/data/sources/csv_fields_internal.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "stoker/base/problems.h"

namespace stoker {
namespace {

constexpr double kMostExtent = 1 << 30;

// In a recipe for another file every field is wrong, and a longer list helps no one.
constexpr int64_t kMostWrongFields = 100;

std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool IsNumber(std::string_view text) {
  double ignored = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ignored);
  return error == std::errc() && end == text.data() + text.size();
}

// The columns of a file by their names. Files have up to a million columns, and each may be a
// field, so none is looked for among all.
class ColumnNames {
 public:
  // REQUIRES: `names` outlives this.
  explicit ColumnNames(const std::vector<std::string>& names) : names_(names) {
    numbers_.reserve(names.size());
    for (size_t i = 0; i < names.size(); ++i) {
      if (!numbers_.emplace(names[i], static_cast<int64_t>(i)).second) twice_.insert(names[i]);
    }
  }
  const std::vector<std::string>& names() const { return names_; }

  // Error if several columns bear the name: which is meant is not known.
  Status CheckOne(std::string_view name) const {
    if (!twice_.contains(name)) return OkStatus();
    std::vector<size_t> numbers;
    for (size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name) numbers.push_back(i);
    }
    return InvalidArgument(
        "the header has {} columns called '{}', those of the numbers {} from 0; give each a name "
        "of its own, or take one by its number: {{columns: [{}]}}",
        numbers.size(), name, fmt::join(numbers, ", "), numbers.front());
  }

  // The number of the column that `text` names, or counts from 0.
  std::optional<int64_t> Find(std::string_view text) const {
    const auto found = numbers_.find(text);
    if (found != numbers_.end()) return found->second;
    const std::optional<int64_t> number = WholeNumber(text);
    return number && *number >= 0 && *number < std::ssize(names_) ? number : std::nullopt;
  }

 private:
  const std::vector<std::string>& names_;
  std::unordered_map<std::string_view, int64_t> numbers_;
  std::unordered_set<std::string_view> twice_;
};

// Adds the columns that `text` stands for: one, or from one to another.
Status AddColumns(const std::string& field, const std::string& text, const ColumnNames& names,
                  std::vector<int64_t>& out) {
  STOKER_RETURN_IF_ERROR(names.CheckOne(text));
  if (const std::optional<int64_t> one = names.Find(text)) {
    out.push_back(*one);
    return OkStatus();
  }
  for (size_t dash = text.find('-'); dash != text.npos; dash = text.find('-', dash + 1)) {
    const std::optional<int64_t> first = names.Find(text.substr(0, dash));
    const std::optional<int64_t> last = names.Find(text.substr(dash + 1));
    if (!first || !last) continue;
    STOKER_RETURN_IF_ERROR(names.CheckOne(text.substr(0, dash)));
    STOKER_RETURN_IF_ERROR(names.CheckOne(text.substr(dash + 1)));
    if (*first > *last) continue;
    for (int64_t column = *first; column <= *last; ++column) out.push_back(column);
    return OkStatus();
  }
  return InvalidArgument("field '{}': there is no column '{}' among {}; {}", field, text,
                         names.names().size(), NameAdvice(text, names.names()));
}

Result<Shape> ShapeOf(const CsvField& field, int64_t columns) {
  if (field.type == "text") {
    if (columns != 1 || !field.shape.empty())
      return InvalidArgument("field '{}': a text has one column and no shape of its own",
                             field.name);
    return Shape{kUnknownDim};
  }
  if (field.shape.empty()) return columns == 1 ? Shape{} : Shape{columns};
  if (NumValues(field.shape) == columns) return field.shape;
  return InvalidArgument("field '{}': shape {} has {} values, its columns are {}", field.name,
                         ShapeToString(field.shape), NumValues(field.shape), columns);
}

// The columns of one field, in its order. Errors: one for each that the file lacks.
Status FindColumns(const CsvField& field, const ColumnNames& names, std::vector<int64_t>& columns) {
  if (field.columns.empty()) return AddColumns(field.name, field.name, names, columns);
  Problems problems;
  for (const std::string& text : field.columns) {
    problems.Add(AddColumns(field.name, text, names, columns));
  }
  return problems.ToStatus();
}

// Adds the field and its columns to the plan.
Status PlanField(const CsvField& field, const ColumnNames& names, CsvPlan& plan) {
  STOKER_RETURN_IF_ERROR(CheckOptionsOf(field));
  Problems problems;
  std::vector<int64_t> columns;
  problems.Add(FindColumns(field, names, columns));
  if (field.default_value.size() > 1) {
    problems.Add(InvalidArgument("field '{}': default has {} values, it is one for all its columns",
                                 field.name, field.default_value.size()));
  }
  STOKER_RETURN_IF_ERROR(problems.ToStatus());
  const bool text = field.type == "text";
  DType dtype = DType::kUInt8;
  if (!text) {
    STOKER_ASSIGN_OR_RETURN(dtype, ParseDType(field.type));
  }
  STOKER_ASSIGN_OR_RETURN(Shape shape, ShapeOf(field, std::ssize(columns)));
  for (size_t i = 0; i < columns.size(); ++i) {
    plan.columns.push_back(
        {.column = columns[i],
         .name = names.names()[static_cast<size_t>(columns[i])],
         .text = text,
         .dtype = dtype,
         .field = plan.spec.fields.size(),
         .index = static_cast<int64_t>(i),
         .has_default = !field.default_value.empty(),
         .default_text = field.default_value.empty() ? "" : field.default_value.front()});
  }
  plan.spec.fields.push_back({field.name, dtype, std::move(shape)});
  return OkStatus();
}

}  // namespace

void CsvField::Describe(OptionTable<CsvField>& table) {
  table
      .Field("type", &CsvField::type, "what its cells are",
             OneOf{{"float32", "float64", "uint8", "int32", "int64", "text"}})
      .Field("columns", &CsvField::columns,
             "names or numbers (from 0), also from one to another: 1-784; empty: the column called "
             "as the field")
      .Field("shape", &CsvField::shape,
             "of the values of all columns; empty: one value, or [columns]",
             Between(1, kMostExtent))
      .Field("default", &CsvField::default_value,
             "what stands for a missing value; empty: an error");
}

bool LooksLikeCsvHeader(const std::vector<std::string>& cells,
                        const std::vector<std::vector<std::string>>& rows,
                        const std::vector<std::string>& missing) {
  const auto is_missing = [&](const std::string& cell) {
    return IsMissingCsvCell(TrimmedCsvCell(cell), missing);
  };
  const bool unnamed_index = cells.size() > 1 && cells.front().empty() && !rows.empty() &&
                             std::ranges::none_of(rows, [&](const auto& row) {
                               return row.empty() || is_missing(row.front());
                             });
  return std::ranges::none_of(
      cells.begin() + (unnamed_index ? 1 : 0), cells.end(),
      [&](const std::string& cell) { return is_missing(cell) || IsNumber(TrimmedCsvCell(cell)); });
}

void NameCsvColumns(std::vector<std::string> header_cells, CsvStart& start) {
  start.names = header_cells;
  if (header_cells.size() > 1 && header_cells.front().empty()) {
    std::string name = "index";
    while (std::ranges::count(header_cells, name) > 0) name += '_';
    start.names.front() = start.name_of_unnamed = name;
  }
  start.header_cells = std::move(header_cells);
}

CsvFields GuessCsvFields(const CsvStart& start, const std::vector<std::string>& missing) {
  std::vector<CsvField> fields;
  for (size_t c = 0; c < start.names.size(); ++c) {
    int64_t rows = 0, gaps = 0, numbers = 0, whole = 0, marks = 0;
    for (const std::vector<std::string>& cells : start.cells) {
      if (c >= cells.size()) continue;
      ++rows;
      const std::string_view cell = TrimmedCsvCell(cells[c]);
      if (IsMissingCsvCell(cell, missing)) {
        ++gaps;
      } else if (IsNumber(cell)) {
        ++numbers;
        whole += WholeNumber(cell) ? 1 : 0;
      } else if (IsMissingCsvCell(cell, UsualMissingMarks())) {
        ++marks;
      }
    }
    CsvField field{.name = start.names[c]};
    const bool all_numbers = numbers + gaps == rows;
    if (!all_numbers && (numbers == 0 || numbers + gaps + marks < rows)) field.type = "text";
    if (whole == rows && rows > 0) field.type = "int64";
    if (field.type == "float32" && gaps > 0) field.default_value = {"nan"};
    fields.push_back(std::move(field));
  }
  return CsvFields(std::move(fields));
}

Result<CsvPlan> PlanCsvFields(const CsvFields& fields, const std::vector<std::string>& names) {
  CsvPlan plan;
  const ColumnNames columns_by_name(names);
  std::set<std::string_view> used;
  Problems problems;
  int64_t wrong = 0;
  for (const CsvField& field : fields.fields()) {
    const bool again = !used.insert(field.name).second;
    if (again && !columns_by_name.CheckOne(field.name).ok()) continue;  // which has been said
    if (field.name.empty() || again) {
      problems.Add(InvalidArgument("two fields are called '{}', or one has no name", field.name));
    }
    const Status planned = PlanField(field, columns_by_name, plan);
    problems.Add(planned);
    if (!planned.ok() && ++wrong == kMostWrongFields) break;
  }
  STOKER_RETURN_IF_ERROR(problems.ToStatus());
  return plan;
}

}  // namespace stoker
