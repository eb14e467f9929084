// What a run that waits for its data can do about it, in the keys of recipes and the commands of
// the program.
#pragma once

#include "stoker/data/advice/limiting_stage.h"
#include "stoker/data/runtime/starvation.h"

namespace stoker {

// A run that has spent the share `waited` of its time waiting for `stage`. Nothing is advised that
// the recipe has already, or that does nothing for such a stage.
Starvation StarvationBy(const LimitingStage& stage, double waited);

}  // namespace stoker
