// What the tuner may choose: where a run begins, and what is open. A trick that is new is a field
// of Choices, a knob here, and whoever obeys the field; the search and the timing need not know it.
#pragma once

#include <vector>

#include "stoker/device/device_graph.h"
#include "stoker/run/choices.h"
#include "stoker/run/recipe.h"
#include "stoker/train/plan/training_plan.h"
#include "stoker/train/tune/tune_search.h"

namespace stoker {

// Batches that wait on an accelerator ahead of their step, where nothing else is said: one is
// copied while another waits.
inline constexpr int kUsualBatchesAhead = 2;

// What a run has that is not tuned: what the recipe fixes, and for the rest what is best most
// often: channels last for models with filters, float32, all CPUs, on an accelerator
// kUsualBatchesAhead. Makes the model once where the layout is open.
Choices FirstChoices(const Recipe& recipe, const TrainingPlan& plan, const c10::Device& device);

// What the recipe leaves open, in the order in which it is tried; `first` is of FirstChoices.
// Makes a graph, and drops it, where train.graph is open: whether it can be is found out here.
std::vector<Knob> OpenKnobs(const Recipe& recipe, const TrainingPlan& plan,
                            const c10::Device& device, const Choices& first,
                            const DeviceGraphMaker& new_graph = NewDeviceGraph);

// Has the process compute as chosen: at::set_num_threads and cuDNN's benchmark; and the threads of
// torch that work for this one, FlushTorchDenormals. TorchFloatModes undoes the last.
void ApplyChoices(const Choices& choices);

}  // namespace stoker
