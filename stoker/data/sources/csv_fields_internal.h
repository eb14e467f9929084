// What csv is told about its columns, and how they become the fields of elements.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/core/spec.h"
#include "stoker/data/options/field_map.h"
#include "stoker/formats/csv/row_parser.h"

namespace stoker {

// One field. In a recipe `age: int64`, or `image: {columns: 1-784, shape: [1, 28, 28]}`.
struct CsvField {
  static constexpr std::string_view kName = "field";
  std::string name;  // in a recipe the key
  std::string type = "float32";
  std::vector<std::string> columns;  // names, numbers or ranges; none: the one called as the field
  std::vector<int64_t> shape;        // none: one value, or of several columns [columns]
  std::vector<std::string> default_value;  // of missing values; none: an error

  static void Describe(OptionTable<CsvField>& table);
};

using CsvFields = FieldMap<CsvField>;

// What the first rows of a file tell.
struct CsvStart {
  std::vector<std::string> names;  // of the columns; by number where there is no header
  std::vector<std::vector<std::string>> cells;  // of some rows, behind the header
  std::vector<std::string> header_cells;        // as they stand in the file; none without a header
  // What the first column is called where the header has no name for it, as that of a DataFrame
  // which pandas wrote with its index; else empty.
  std::string name_of_unnamed;
};

// Whether a first row is a header: none of its cells is a number or missing, but the first may be
// empty if that of no row in `rows`, which follow, is missing.
bool LooksLikeCsvHeader(const std::vector<std::string>& cells,
                        const std::vector<std::vector<std::string>>& rows,
                        const std::vector<std::string>& missing);

// Takes the cells of a header: names of the columns, "index" for a first one without.
void NameCsvColumns(std::vector<std::string> header_cells, CsvStart& start);

// A field for each column: int64 where all its cells are whole numbers; float32 where all are
// numbers or `missing` (then with nan as default), or look so (UsualMissingMarks): which of
// these stand for a missing value must be said, so they are errors of their rows; text elsewhere.
CsvFields GuessCsvFields(const CsvStart& start, const std::vector<std::string>& missing);

struct CsvPlan {
  Spec spec;
  std::vector<CsvColumn> columns;
};
// Errors: kInvalidArgument for columns that are not there, and options that do not go together.
Result<CsvPlan> PlanCsvFields(const CsvFields& fields, const std::vector<std::string>& names);

}  // namespace stoker
