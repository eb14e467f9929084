// The options of csv for its columns, and their mapping to fields of elements.
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
  std::vector<std::string>
      columns;                 // names, numbers or ranges; none: the column named like the field
  std::vector<int64_t> shape;  // none: one value, or [columns] for several columns
  std::vector<std::string> default_value;  // of missing values; none: an error

  static void Describe(OptionTable<CsvField>& table);
};

using CsvFields = FieldMap<CsvField>;

// The first rows of a file.
struct CsvStart {
  std::vector<std::string> names;               // of the columns; numbers without a header
  std::vector<std::vector<std::string>> cells;  // of some rows, after the header
  std::vector<std::string> header_cells;        // as in the file; none without a header
  // The name of the first column if the header has none for it, as when pandas writes a DataFrame
  // with its index; else empty.
  std::string name_of_unnamed;
};

// Returns whether a first row is a header: none of its cells is a number or missing, except that
// the first may be empty if that of no following row in `rows` is missing.
bool LooksLikeCsvHeader(const std::vector<std::string>& cells,
                        const std::vector<std::vector<std::string>>& rows,
                        const std::vector<std::string>& missing);

// Takes the cells of a header: names of the columns, "index" for a first one without.
void NameCsvColumns(std::vector<std::string> header_cells, CsvStart& start);

// Returns a field for each column: int64 if all its cells are whole numbers; float32 if all are
// numbers or `missing` (then with nan as default), or look so (UsualMissingMarks; these are errors
// of their rows unless listed as missing); else text.
CsvFields GuessCsvFields(const CsvStart& start, const std::vector<std::string>& missing);

struct CsvPlan {
  Spec spec;
  std::vector<CsvColumn> columns;
};
// Errors: kInvalidArgument for missing columns, and for incompatible options.
Result<CsvPlan> PlanCsvFields(const CsvFields& fields, const std::vector<std::string>& names);

}  // namespace stoker
