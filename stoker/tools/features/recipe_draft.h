// A training recipe for a table.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/tools/features/column_choice.h"
#include "stoker/tools/features/table_profile.h"

namespace stoker {

// Returns the text of a recipe that trains on the table, with comments. Statistics are learned by
// the recipe from its training side, so none are in it but the medians for missing numbers.
//   root, file  data.root, and the file there
// Errors: kInvalidArgument if no column is left, or rows lack the target. REQUIRES: table.target.
Result<std::string> DraftRecipe(const TableProfile& table, const std::vector<ColumnChoice>& choices,
                                const std::string& root, const std::string& file);

}  // namespace stoker
