// TrainingPlan: what follows from a recipe and its data before anything is computed.
#pragma once

#include <c10/core/Device.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"
#include "stoker/run/choices.h"
#include "stoker/run/recipe.h"
#include "stoker/run/registry.h"
#include "stoker/run/schedule.h"
#include "stoker/train/core/target.h"
#include "stoker/train/plan/normalize_place.h"

namespace stoker {

// What predictions are held against: the targets of evaluations, or where there are none those of
// training.
struct PlannedTarget {
  std::string form;                // as weights keep it (weights_file.h)
  std::optional<TargetKind> kind;  // nothing where train.sanity is off: then nothing is tried
};

struct TrainingPlan {
  PlacedPipeline batches;  // of all epochs, one after the other, so that reading ahead does not
                           // stop between them and the position is one number
  // The same, normalised on the host, where batches are normalised on the device and the recipe
  // leaves open which (train.normalize_on).
  std::optional<Dataset> host_batches = {};
  ModelInput input;                // one sample
  std::optional<int64_t> outputs;  // of the model; nothing where train.sanity is off
  PlannedTarget target;
  SchedulePlan schedule;
  std::optional<int64_t> batch_size;  // samples of a step, where that is known
  int64_t batches_per_epoch = 0;
  std::optional<int64_t> again;  // so many batches again and again (train.overfit_batches); then
                                 // `batches` are these
  int64_t accumulate = 1;        // batches of a step, but for the last of an epoch

  PlacedPipeline BatchesFor(const Choices& choices) const {
    if (choices.normalize_on_host && host_batches) return {*host_batches, {}};
    return batches;
  }
  int64_t total_steps() const { return schedule.total_steps; }
  int64_t steps_per_epoch() const { return schedule.steps_per_epoch; }
  // Batches of step `step`, from 0: the last of an epoch has what is left.
  int64_t BatchesOf(int64_t step) const {
    const int64_t before = step % schedule.steps_per_epoch * accumulate;
    return std::min(accumulate, batches_per_epoch - before);
  }
  // Epochs begun after `step` steps: ceil(step / steps_per_epoch).
  int64_t EpochOf(int64_t step) const {
    return (step + schedule.steps_per_epoch - 1) / schedule.steps_per_epoch;
  }
};

// A pipeline without an end, or of a length that is not known, counts as one epoch of
// train.max_steps. Errors (kInvalidArgument): a field that is missing or of the wrong type, in the
// train or the eval pipeline; targets that the loss does not take; a figure that is asked for and
// that evaluations of such targets do not have; no batch at all; no end and no train.max_steps; a
// schedule that cannot be followed.
//   device  that the batches are for: whether they are normalised there (normalize_place.h)
Result<TrainingPlan> MakePlan(const Recipe& recipe, c10::Device device = c10::kCPU);

}  // namespace stoker
