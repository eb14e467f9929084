// A recipe's section `data`, read to its end whatever is wrong with it: for `stoker check`.
#pragma once

#include <filesystem>
#include <optional>

#include "stoker/base/config.h"
#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// What of the section could be made, and all that is wrong with the rest (base/problems.h): a
// mistake in one pipeline hides none in the other.
struct CheckedData {
  std::optional<Dataset> train, eval;
  Status status;
};

// ParseDataSection (recipe.h), but for that.
CheckedData CheckDataSection(const ConfigNode& recipe, const std::filesystem::path& recipe_folder);

}  // namespace stoker
