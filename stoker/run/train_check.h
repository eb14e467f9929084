// Reads a recipe's section `train` to its end despite errors: for `stoker check`.
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "stoker/base/config.h"
#include "stoker/base/status.h"
#include "stoker/run/recipe.h"

namespace stoker {

// The valid parts of the section, and all errors in the rest (base/problems.h). Parts with a
// mistake are omitted, so that the others can be tried.
struct CheckedTrain {
  TrainRecipe train;
  // Whether the plain keys, loss, optimizer and schedule are as written, so that a trial of them
  // with model and data means something.
  bool can_be_tried = false;
  // Plain keys of the section that could not be read, misspelt ones included.
  std::set<std::string, std::less<>> unread;
  Status status;

  // Returns whether the plain key `name` is as written, or omitted on purpose.
  bool Reads(std::string_view name) const { return !unread.contains(name); }
};

// As ParseTrainSection (recipe.h), but collects errors; the path of init_from is resolved as by
// ParseRecipe.
CheckedTrain CheckTrainSection(const ConfigNode& recipe,
                               const std::filesystem::path& recipe_folder);

// Finds errors in parts whose keys are valid one by one, without data and model: figures that
// nothing measures, callbacks that cannot be made, rules of init_from. Removes those parts from
// `train`. Errors: all of them (base/problems.h).
//   measured  the figures of train.metrics, also those that wrong entries may mean
Status TakeOutWrongParts(TrainRecipe& train, const std::vector<MeasuredFigure>& measured);

// Checks that the file of init_from can be read, if no model can be made.
Status TryWeightsFile(const InitFromOptions& options);

// As ParseRecipe (recipe.h), with a section `train` that was read before.
Result<Recipe> ParseRecipeAround(const ConfigNode& root, const std::filesystem::path& folder,
                                 TrainRecipe train);

}  // namespace stoker
