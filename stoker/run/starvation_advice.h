// Advice for a run that waits for its data, as keys of recipes and commands of the program.
#pragma once

#include "stoker/data/advice/limiting_stage.h"
#include "stoker/data/runtime/starvation.h"

namespace stoker {

// Returns the advice for a run that has spent the share `waited` of its time waiting for `stage`.
// Advises nothing that the recipe already has, or that does not help such a stage.
Starvation StarvationBy(const LimitingStage& stage, double waited);

}  // namespace stoker
