// Adds the line of the recipe to errors that are found after it was parsed.
#pragma once

#include "stoker/base/status.h"
#include "stoker/train/recipe.h"

namespace stoker {

// Returns `status` with its message preceded by the place of the first key of `train` that it
// names: "recipe.yaml:9:11: train.input: ...". Returns it unchanged where the message has a place
// already or names no key that was written.
Status WithPlace(const TrainRecipe& train, const Status& status);

}  // namespace stoker
