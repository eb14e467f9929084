// Where in a recipe stands what was found to be wrong after it was parsed.
#pragma once

#include "stoker/base/status.h"
#include "stoker/train/recipe.h"

namespace stoker {

// `status` with the place of the first key of `train` that its message names, such as
// "train.input", in front: "recipe.yaml:9:11: train.input: ...". As it is where it has a place
// already, or names no key that was written.
Status WithPlace(const TrainRecipe& train, const Status& status);

}  // namespace stoker
