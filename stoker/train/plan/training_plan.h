// TrainingPlan: derived from a recipe and its data before computing anything.
#pragma once

#include <c10/core/Device.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/row_share.h"
#include "stoker/run/choices.h"
#include "stoker/run/recipe.h"
#include "stoker/run/registry.h"
#include "stoker/run/schedule.h"
#include "stoker/train/core/known_tokens.h"
#include "stoker/train/core/target.h"
#include "stoker/train/plan/normalize_place.h"

namespace stoker {

// The targets that predictions are compared with: those of evaluations, or of training if there are
// none.
struct PlannedTargets {
  std::string form;  // as stored with weights (weights_file.h)
  // Of each target; empty if train.sanity is off: then nothing is tried.
  std::vector<TargetKind> kinds;

  // Returns whether evaluations have an accuracy: there is one target, of classes or labels.
  bool have_accuracy() const { return kinds.size() == 1 && kinds[0] != TargetKind::kNumbers; }
};

struct TrainingPlan {
  PlacedPipeline batches;  // of all consecutive epochs, so that reading ahead does not
                           // stop between them and the position is one number
  // The same, normalised on the host, if batches are normalised on the device and the recipe leaves
  // this open (train.normalize_on).
  std::optional<Dataset> host_batches = {};
  ModelInput input;                // one sample
  std::string noun = "sample";     // what messages call it (sample_noun.h)
  std::optional<int64_t> outputs;  // of the model; nothing if train.sanity is off
  TokensByInput tokens;            // of the model (Model::TokensOfAll)
  PlannedTargets targets;
  SchedulePlan schedule;
  std::optional<int64_t> batch_size;  // samples of a step, if known
  int64_t batches_per_epoch = 0;
  std::optional<int64_t> again;  // repeats this many batches (train.overfit_batches); then
                                 // `batches` are these
  int64_t batches_a_step = 1;    // except the last of an epoch
  bool makes_all = false;        // of several ranks, each makes the rows of all (rank_rows.h)

  PlacedPipeline BatchesFor(const Choices& choices) const {
    if (choices.normalize_on_host && host_batches) return {*host_batches, {}};
    return batches;
  }
  int64_t total_steps() const { return schedule.total_steps; }
  int64_t steps_per_epoch() const { return schedule.steps_per_epoch; }
  // Returns the batches of step `step`, from 0: the last of an epoch has the rest.
  int64_t BatchesOf(int64_t step) const {
    const int64_t before = step % schedule.steps_per_epoch * batches_a_step;
    return std::min(batches_a_step, batches_per_epoch - before);
  }
  // Returns the epochs begun after `step` steps: ceil(step / steps_per_epoch).
  int64_t EpochOf(int64_t step) const {
    return (step + schedule.steps_per_epoch - 1) / schedule.steps_per_epoch;
  }
};

// Makes the plan. An endless pipeline, or one of unknown length, counts as one epoch of
// train.max_steps. Errors (kInvalidArgument): a missing field or one of the wrong type, in the
// train or the eval pipeline; targets that the loss does not accept; a requested figure that
// evaluations of such targets do not have; no batch at all; no end and no train.max_steps; an
// invalid schedule.
//   device  the device of the batches, which decides where they are normalised (normalize_place.h)
//   share   of the rows of each batch, which `batches` give; all else is of whole batches. Errors:
//           also a batch of fewer rows than ranks
Result<TrainingPlan> MakePlan(const Recipe& recipe, c10::Device device = c10::kCPU,
                              const RowShare& share = {});

}  // namespace stoker
