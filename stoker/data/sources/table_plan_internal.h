// Which column of a table each field of an element comes from.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/core/option_object.h"
#include "stoker/data/core/spec.h"
#include "stoker/data/options/field_map.h"
#include "stoker/formats/arrow/table_file.h"

namespace stoker {

// One field. In a recipe `label: y`, or `label: {column: y, nulls: -1}`.
struct TableField {
  static constexpr std::string_view kName = "field";
  std::string name;  // in a recipe the key
  std::string column;
  std::vector<std::string> nulls;  // what stands for a null; none: such a row is an error

  static void Describe(OptionTable<TableField>& table);
};
using TableFields = FieldMap<TableField>;

// Where a field comes from, alike in all files.
struct TableSource {
  TableWish wish;
  std::string names;      // TableColumn::names
  size_t item_bytes = 0;  // of a row, or of one item of a row whose length differs
  bool ragged = false;
};

struct TablePlan {
  Spec spec;
  std::vector<TableSource> sources;  // of each field
};

// Finds the columns of `fields` in a file. Errors: kInvalidArgument for a column that is not there
// or cannot be read, and for `nulls` that its type cannot hold.
Result<TablePlan> PlanTable(const TableFile& table, const std::string& file,
                            const TableFields& fields);

// Every column by its path.
TableFields AllFieldsOf(const TableFile& table);

}  // namespace stoker
