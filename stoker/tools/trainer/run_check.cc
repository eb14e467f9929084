#include <filesystem>
#include <optional>

#include "stoker/base/problems.h"
#include "stoker/tools/check_command.h"
#include "stoker/tools/trainer/commands.h"
#include "stoker/train/recipe_trial.h"
#include "stoker/train/train_check.h"

namespace stoker {
namespace {

constexpr const char* kLeftOut =
    "how model, data and training go together, since findings stand in the way";

// What can be tried where findings elsewhere stand in the way of the rest.
void CheckWeights(const Result<ModelRegistry::Configured>& model, const TrainRecipe& train,
                  const CheckedData& data, RecipeCheck& check) {
  const std::optional<Dataset>& samples = data.train ? data.train : data.eval;
  const bool has_both = model.ok() && samples;
  check.Add(has_both ? TryModelAlone(*model, train, *samples) : TryWeightsFile(train.init_from),
            "train");
  check.NotChecked(kLeftOut);
}

void CheckAll(const ConfigNode& recipe, const std::filesystem::path& folder, RecipeCheck& check) {
  const CheckedData data = CheckData(recipe, folder, check);
  const Result<ModelRegistry::Configured> model = ParseModelSection(recipe);
  check.Add(model.status(), "model");
  const bool others_are_right = check.clean();
  const CheckedTrain train = CheckTrainSection(recipe, folder);
  check.Add(train.status, "train");
  if (!others_are_right || !train.can_be_tried)
    return CheckWeights(model, train.train, data, check);
  const Result<Recipe> whole = ParseRecipeAround(recipe, folder, train.train);
  check.Add(whole.ok() ? TryTraining(*whole) : whole.status(), "train");
}

}  // namespace

Status RunRecipeCheck(const CheckArguments& arguments) {
  return RunCheck(arguments, [&](const ConfigNode& recipe, RecipeCheck& check) {
    CheckAll(recipe, std::filesystem::path(arguments.recipe).parent_path(), check);
  });
}

}  // namespace stoker
