// The names of the classes of targets, for predictions.
#pragma once

#include "stoker/base/config.h"
#include "stoker/base/status.h"
#include "stoker/data/recipe/recipe.h"
#include "stoker/run/recipe.h"

namespace stoker {

// Gives each of several targets the names that its data know, if the recipe has given none, and
// checks that no target has more than the model tells apart. Errors: kInvalidArgument with the
// place of the names, of the model, or of `data.classes` beside several targets.
//   root  the whole recipe
Status NameClasses(const ConfigNode& root, const DataRecipe& data,
                   const ModelRegistry::Configured& model, TrainRecipe& train);

}  // namespace stoker
