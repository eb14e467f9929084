// Finds options of a training that do not go together.
#pragma once

#include "stoker/base/status.h"
#include "stoker/run/recipe.h"

namespace stoker {

// Checks what steps of several ranks, and of threads that update the weights at once, do not go
// with. Errors (kInvalidArgument): all that is found (problems.h), each by the key to change.
Status CheckOptionsTogether(const TrainRecipe& train);

}  // namespace stoker
