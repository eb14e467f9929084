// The schedule that a run follows: the one its recipe names, with what the recipe puts around it.
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
//           cos(pi t / W)) / 2. Where `from` is auto it is 1 / scale, the rate before scaling, and
//           0 where that is not below 1.
// Momenta are the schedule's own. So a warm-up lies over the schedule and delays nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "stoker/base/status.h"
#include "stoker/run/recipe.h"
#include "stoker/run/schedule.h"

namespace stoker {

// Samples in a batch of `train`: the size that the Spec of its field `input` tells, or else the
// size of its last operator `batch`; nothing where neither is there.
std::optional<int64_t> BatchSizeOf(const DataRecipe& data, std::string_view input);

// `scale` above. Errors: kInvalidArgument where it follows the batch, which is not known.
Result<double> LrScaleOf(const LrScalingOptions& options, std::optional<int64_t> batch);

//   batch  samples of one optimizer step; needed where the rate is scaled with it
// Errors: the schedule's; kInvalidArgument where the batch is needed and not known.
Result<std::unique_ptr<Schedule>> BuildRunSchedule(const TrainRecipe& train,
                                                   const SchedulePlan& plan,
                                                   std::optional<int64_t> batch);

}  // namespace stoker
