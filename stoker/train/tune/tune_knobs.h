// The tuner's initial choices and its open knobs. A new trick needs a field of Choices, a knob
// here, and the code that uses the field; the search and the timing do not change.
#pragma once

#include <vector>

#include "stoker/device/device_graph.h"
#include "stoker/run/choices.h"
#include "stoker/run/recipe.h"
#include "stoker/train/plan/training_plan.h"
#include "stoker/train/tune/tune_search.h"

namespace stoker {

// The default number of batches on an accelerator ahead of their step: one is copied while another
// waits.
inline constexpr int kUsualBatchesAhead = 2;

// Returns the choices of a run without tuning: those that the recipe fixes, and for the rest good
// defaults: channels last for models with filters, float32, all CPUs, kUsualBatchesAhead on an
// accelerator. Makes the model once if the layout is open.
Choices FirstChoices(const Recipe& recipe, const TrainingPlan& plan, const c10::Device& device);

// Returns the knobs that the recipe leaves open, in the order of trials; `first` is from
// FirstChoices. If train.graph is open, makes and drops a graph to find out whether that is
// possible.
std::vector<Knob> OpenKnobs(const Recipe& recipe, const TrainingPlan& plan,
                            const c10::Device& device, const Choices& first,
                            const DeviceGraphMaker& new_graph = NewDeviceGraph);

// Applies choices: torch's threads and cuDNN's benchmark for the process, and FlushTorchDenormals
// for torch's threads of this thread, which TorchFloatModes undoes. Errors: those of
// SetTorchThreads.
Status ApplyChoices(const Choices& choices);

}  // namespace stoker
