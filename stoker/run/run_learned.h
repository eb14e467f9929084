// What the stages of a run have learned, in its directory.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/data/recipe/recipe.h"
#include "stoker/run/run_directory.h"

namespace stoker {

// Writes what `data` has learned, if anything, with the marks of the files that it was learned from
// (MarkData, recipe_changes.h). What was taken from another run keeps that run's.
Status KeepLearned(RunDirectory& run, const DataRecipe& data, const Json& marks);

// Returns how what `data` would go on with differs from what the run was trained with: values, each
// as "normalize of x: mean[0] is 2, it was 1", and files that are others than those the run has
// learned from. Nothing if they are the same, or the run has learned nothing.
//   marks  of the files as they are now
// Errors: those of ReadLearned, such as of a damaged file.
Result<std::vector<std::string>> LearnedChanges(const std::filesystem::path& run,
                                                const DataRecipe& data, const Json& marks);

}  // namespace stoker
