// Tuner: `train.tune`. Times a few real steps of each alternative that the recipe leaves open, on
// models of its own with real batches, and keeps what is faster. The run's weights, random state
// and data position are not touched. tune_knobs.h has the alternatives, tune_search.h how they are
// searched and for how long, step_timer.h how they are timed.
#pragma once

#include "stoker/base/status.h"
#include "stoker/device/device_graph.h"
#include "stoker/run/recipe.h"
#include "stoker/train/plan/training_plan.h"
#include "stoker/train/tune/tune_search.h"

namespace stoker {

// Times nothing where the recipe says `tune: off` or leaves nothing open, or where the run is too
// short; then the choices are those of FirstChoices, and the report says why. Has the process
// compute as chosen. Errors: those of the first steps of what it begins with.
Result<Tuned> Tune(const Recipe& recipe, const TrainingPlan& plan, const c10::Device& device,
                   const DeviceGraphMaker& new_graph = NewDeviceGraph);

}  // namespace stoker
