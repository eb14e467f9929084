// The schedule of a run: the recipe's schedule with its scaling and warm-up.
//
//   train:
//     schedule: {multi_step: {lr: 0.1, milestones: [30, 60, 80]}}
//     schedule_every: step          # or epoch: the same value for a whole epoch
//     lr_scaling: {rule: linear, base_batch: 256}
//     warmup: {epochs: 5}
//
// With f the schedule named, the rate of step t is  f(t) * scale * warm(t):
//   f(t)    with schedule_every: epoch, f(epoch of t), f planned over epochs instead of steps
//   scale   linear: batch / base_batch (Goyal et al., arXiv 1706.02677); sqrt: the root of that
//           (Krizhevsky, arXiv 1404.5997); batch is the samples of one optimizer step
//   warm(t) from + (1 - from) * p in the first W steps, then 1; p is t / W, or with shape cosine (1
//   -
//           cos(pi t / W)) / 2. If `from` is auto it is 1 / scale, the rate before scaling, or 0 if
//           that is not below 1.
// Momenta are the schedule's own. A warm-up multiplies the schedule and does not delay it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "stoker/base/status.h"
#include "stoker/run/recipe.h"
#include "stoker/run/schedule.h"

namespace stoker {

// Samples in a batch of `train`: the size in the Spec of its field `input`, or else of its last
// operator `batch`; nothing if both are unknown.
std::optional<int64_t> BatchSizeOf(const DataRecipe& data, std::string_view input);

// Returns `scale` above. Errors: kInvalidArgument if it depends on the batch, which is unknown.
Result<double> LrScaleOf(const LrScalingOptions& options, std::optional<int64_t> batch);

//   batch  samples of one optimizer step; needed if the rate is scaled with it
// Errors: the schedule's; kInvalidArgument if the batch is needed and unknown.
Result<std::unique_ptr<Schedule>> BuildRunSchedule(const TrainRecipe& train,
                                                   const SchedulePlan& plan,
                                                   std::optional<int64_t> batch);

}  // namespace stoker
