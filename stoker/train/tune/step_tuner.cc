#include "stoker/train/tune/step_tuner.h"

#include <c10/core/Device.h>

#include "stoker/train/step/random_state.h"
#include "stoker/train/tune/step_timer.h"
#include "stoker/train/tune/tune_knobs.h"

namespace stoker {
namespace {

Result<Tuned> Choose(const Recipe& recipe, const TrainingPlan& plan, const c10::Device& device,
                     const DeviceGraphMaker& new_graph) {
  const Choices first = FirstChoices(recipe, plan, device);
  if (recipe.train.options.tune == "off") {
    return Tuned{first, {.reason = "train.tune is off: nothing was timed"}};
  }
  StepTimer timer(recipe, plan, device, new_graph);
  const double batches =
      static_cast<double>(plan.total_steps()) * static_cast<double>(plan.batches_a_step);
  // An accelerator loads kernels for each alternative, and can gain several times as much.
  const TuneLimits limits{.batches = batches, .share = device.is_cpu() ? 0.03 : 0.1};
  Result<Tuned> tuned =
      SearchChoices(first, OpenKnobs(recipe, plan, device, first, new_graph), timer, limits);
  if (!tuned.ok()) return tuned.status().While("timing what the run begins with");
  return tuned;
}

}  // namespace

Result<Tuned> Tune(const Recipe& recipe, const TrainingPlan& plan, const c10::Device& device,
                   const DeviceGraphMaker& new_graph) {
  const Json random = SaveRandomState(device);
  Result<Tuned> tuned = Choose(recipe, plan, device, new_graph);
  STOKER_RETURN_IF_ERROR(RestoreRandomState(random, device));
  if (tuned.ok()) STOKER_RETURN_IF_ERROR(ApplyChoices(tuned->choices));
  return tuned;
}

}  // namespace stoker
