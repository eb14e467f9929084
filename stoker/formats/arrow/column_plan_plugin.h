// How the types of Arrow become dtypes and shapes.
#pragma once

#include <arrow/type.h>

#include <memory>
#include <string>
#include <vector>

#include "stoker/formats/arrow/table_file.h"

namespace stoker {

// What one value becomes.
enum class LeafForm : uint8_t {
  kCopy,      // its bytes
  kBit,       // a byte
  kWidenU16,  // int32
  kWidenU32,  // int64
  kWidenU64,  // int64, which must hold it
  kText,      // bytes, as many as it has: a row of its own length
};

struct ColumnPlan {
  TableColumn column;
  std::vector<std::string> steps;  // names, from the top field down to the one that is read
  bool listed = true;              // among columns(); false for those within struct{bytes, path}

  // From the outside in: a list of any length, lists of fixed length, a dictionary, values.
  bool ragged = false;
  std::vector<int64_t> lists;
  bool dictionary = false;
  LeafForm leaf = LeafForm::kCopy;
  size_t stored_bytes = 0;  // of a value, in Arrow; kCopy alone
  size_t value_bytes = 0;   // of what it becomes

  // Values that make up one row, or one item of a ragged row.
  int64_t values_of_item() const;
  size_t item_bytes() const { return static_cast<size_t>(values_of_item()) * value_bytes; }
};

// One for each column, of structs for each of their fields, in the order of the schema. Those that
// cannot be read say why in column.unread.
std::vector<ColumnPlan> PlanColumns(const arrow::Schema& schema);

// The plan of this path; null where there is none.
const ColumnPlan* FindPlan(const std::vector<ColumnPlan>& plans, std::string_view path);

// The columns that are listed.
std::vector<TableColumn> ListedColumns(const std::vector<ColumnPlan>& plans);

}  // namespace stoker
