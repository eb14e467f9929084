// A recipe's section `train`, read to its end whatever is wrong with it: for `stoker check`.
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

// What of the section could be read, and all that is wrong with the rest (base/problems.h). Parts
// with a mistake are as if they were not written, so that what is left can be tried.
struct CheckedTrain {
  TrainRecipe train;
  // Whether the plain keys, loss, optimizer and schedule are as written, so that a trial of them
  // with model and data means something.
  bool can_be_tried = false;
  // Plain keys of the section that do not say what is meant, misspelt ones among them.
  std::set<std::string, std::less<>> unread;
  Status status;

  // Whether the plain key `name` is as written, or left out on purpose.
  bool Reads(std::string_view name) const { return !unread.contains(name); }
};

// ParseTrainSection (recipe.h), but for that, with the path of init_from as ParseRecipe resolves
// it.
CheckedTrain CheckTrainSection(const ConfigNode& recipe,
                               const std::filesystem::path& recipe_folder);

// What can be wrong with parts whose keys are right one by one, and needs neither data nor model:
// names of metrics, figures that nothing measures, callbacks that cannot be made, rules of
// init_from. Takes those parts out of `train`. Errors: all of them (base/problems.h).
Status TakeOutWrongParts(TrainRecipe& train);

// Whether the file of init_from can be read, for where no model can be made.
Status TryWeightsFile(const InitFromOptions& options);

// ParseRecipe (recipe.h) with a section `train` that was read before.
Result<Recipe> ParseRecipeAround(const ConfigNode& root, const std::filesystem::path& folder,
                                 TrainRecipe train);

}  // namespace stoker
