#include <filesystem>
#include <optional>

#include "stoker/base/problems.h"
#include "stoker/run/learned_train.h"
#include "stoker/run/train_check.h"
#include "stoker/tools/commands/check_command.h"
#include "stoker/tools/trainer/commands.h"
#include "stoker/train/check/recipe_trial.h"

namespace stoker {
namespace {

constexpr const char* kLeftOut =
    "how model, data and training go together, since findings stand in the way";

// What can be tried where findings stand in the way of the rest.
void CheckParts(const Result<ModelRegistry::Configured>& model, const CheckedTrain& train,
                const CheckedData& data, RecipeCheck& check) {
  const std::optional<Dataset>& samples = data.train ? data.train : data.eval;
  check.Add(TryParts(train, model.ok() ? &*model : nullptr, samples ? &*samples : nullptr),
            "train");
  check.NotChecked(kLeftOut);
}

void CheckAll(const ConfigNode& recipe, const std::filesystem::path& folder, RecipeCheck& check) {
  const CheckedTrain train = CheckTrainSection(recipe, folder);
  const CheckedData data = CheckData(recipe, folder, check, RequestsOf(train.train));
  const Result<ModelRegistry::Configured> model = ParseModelSection(recipe);
  check.Add(model.status(), "model");
  const bool others_are_right = check.clean();
  check.Add(train.status, "train");
  if (!train.Reads("metrics"))
    check.NotChecked("the parts of `train` that follow metrics, since train.metrics is not known");
  if (!others_are_right || !train.can_be_tried) return CheckParts(model, train, data, check);
  const Result<Recipe> whole = ParseRecipeAround(recipe, folder, train.train);
  check.Add(whole.status(), "train");
  if (!whole.ok()) return CheckParts(model, train, data, check);
  const RecipeTrial trial = TryTraining(*whole);
  check.Add(trial.status, "train");
  for (const std::string& warning : trial.warnings) check.Warn(warning);
  if (!trial.untried.empty()) check.NotChecked(trial.untried);
}

}  // namespace

Status RunRecipeCheck(const CheckArguments& arguments) {
  return RunCheck(arguments, [&](const ConfigNode& recipe, RecipeCheck& check) {
    CheckAll(recipe, std::filesystem::path(arguments.recipe).parent_path(), check);
  });
}

}  // namespace stoker
