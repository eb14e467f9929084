#include <filesystem>

#include "stoker/base/problems.h"
#include "stoker/tools/check_command.h"
#include "stoker/tools/trainer/commands.h"
#include "stoker/train/recipe_trial.h"

namespace stoker {
namespace {

constexpr const char* kLeftOut =
    "how model, data and training go together, since findings stand in the way";

void CheckAll(const ConfigNode& recipe, const std::filesystem::path& folder, RecipeCheck& check) {
  CheckData(recipe, folder, check);
  check.Add(ParseModelSection(recipe).status(), "model");
  check.Add(ParseTrainSection(recipe).status(), "train");
  if (!check.clean()) return check.NotChecked(kLeftOut);
  const Result<Recipe> whole = ParseRecipe(recipe, folder);
  check.Add(whole.ok() ? TryTraining(*whole) : whole.status(), "train");
}

}  // namespace

Status RunRecipeCheck(const CheckArguments& arguments) {
  return RunCheck(arguments, [&](const ConfigNode& recipe, RecipeCheck& check) {
    CheckAll(recipe, std::filesystem::path(arguments.recipe).parent_path(), check);
  });
}

}  // namespace stoker
