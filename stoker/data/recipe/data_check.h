// Reads a recipe's section `data` to its end despite errors: for `stoker check`.
#pragma once

#include <filesystem>
#include <optional>
#include <span>

#include "stoker/base/config.h"
#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/learn/training_requests.h"

namespace stoker {

// The parts of the section that could be made, and all errors in the rest (base/problems.h): a
// mistake in one pipeline hides none in the other.
struct CheckedData {
  std::optional<Dataset> train, eval;
  Status status;
};

// As ParseDataSection (recipe.h), but collects errors.
CheckedData CheckDataSection(const ConfigNode& recipe, const std::filesystem::path& recipe_folder,
                             std::span<const TrainingRequest> requests = {});

}  // namespace stoker
