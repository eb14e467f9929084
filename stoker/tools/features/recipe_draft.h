// A training recipe for a table: which columns serve, how, and what the model estimates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/features/table_profile.h"

namespace stoker {

enum class ColumnUse {
  kTarget,
  kNumber,
  kPlace,  // the number's place among the others, in 64 parts of equal counts
  kCategory,
  kLeftOut,
};

// "target", "number", "place", "category", "left out"
std::string_view NameOf(ColumnUse use);

struct ColumnChoice {
  ColumnUse use = ColumnUse::kLeftOut;
  std::string why;  // why it is left out, or what to look at; may be empty
};

// Returns a choice for each column.
std::vector<ColumnChoice> ChooseColumns(const TableProfile& table);

// Returns the text of a recipe that trains on the table, with comments. Statistics are learned by
// the recipe from its training side, so none are in it but the medians for missing numbers.
//   root, file  data.root, and the file there
// Errors: kInvalidArgument if no column is left, or rows lack the target. REQUIRES: table.target.
Result<std::string> DraftRecipe(const TableProfile& table, const std::vector<ColumnChoice>& choices,
                                const std::string& root, const std::string& file);

}  // namespace stoker
