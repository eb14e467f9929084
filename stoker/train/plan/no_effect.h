// Finds settings of a recipe without an effect.
#pragma once

#include <string>
#include <vector>

#include "stoker/run/recipe.h"
#include "stoker/train/plan/training_plan.h"

namespace stoker {

// Returns warnings of settings without an effect, each with its place in the recipe: a warm-up that
// never ends, an average of weights without an update, a schedule that never changes the rate or
// leaves none, a patience that outlasts the run, more batches to a step than an epoch has, more
// threads than CPUs, a topK of all classes. They are not errors, because a short trial of a recipe
// may have them.
std::vector<std::string> SettingsWithoutEffect(const Recipe& recipe, const TrainingPlan& plan);

// Returns a warning of what is left out without evaluations; empty if the recipe has data.eval.
std::string MissingEvaluation(const Recipe& recipe);

}  // namespace stoker
