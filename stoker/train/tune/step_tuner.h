// Tuner: `train.tune`. Times a few real steps of each alternative that the recipe leaves open, on
// separate models with real batches, and keeps the faster ones. Does not change the run's weights,
// random state and data position. tune_knobs.h has the alternatives, tune_search.h the search and
// its limits, step_timer.h the timing.
#pragma once

#include "stoker/base/status.h"
#include "stoker/device/device_graph.h"
#include "stoker/run/recipe.h"
#include "stoker/train/plan/training_plan.h"
#include "stoker/train/tune/tune_search.h"

namespace stoker {

// Times nothing if the recipe says `tune: off` or leaves nothing open, or if the run is too short;
// then the choices are those of FirstChoices, and the report says why. Applies the choices to the
// process. Errors: those of the first steps with the initial choices.
Result<Tuned> Tune(const Recipe& recipe, const TrainingPlan& plan, const c10::Device& device,
                   const DeviceGraphMaker& new_graph = NewDeviceGraph);

}  // namespace stoker
