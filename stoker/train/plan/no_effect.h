// Settings of a recipe that do nothing in the run that it describes.
#pragma once

#include <string>
#include <vector>

#include "stoker/run/recipe.h"
#include "stoker/train/plan/training_plan.h"

namespace stoker {

// Warnings of settings without an effect, each with its place in the recipe: a warm-up that never
// ends, an average of weights without an update, a share of right answers among as many as there
// are classes. They are no errors, since a short trial of a recipe may have them.
std::vector<std::string> SettingsWithoutEffect(const Recipe& recipe, const TrainingPlan& plan);

}  // namespace stoker
