#include "stoker/train/plan/options_together.h"

#include <algorithm>
#include <vector>

#include "stoker/base/problems.h"

namespace stoker {
namespace {

struct Conflict {
  bool there = false;
  const char* says = "";
};

// What steps of each process alone, or a state that is shared out, do not go with.
std::vector<Conflict> ConflictsOfRanks(const TrainRecipe& train) {
  const DistributedOptions& ranks = train.distributed;
  const bool local = ranks.local_steps > 1;
  return {
      {(ranks.shard_optimizer || local || train.checkpoint.parts) && train.checkpoint.every_minutes,
       "train.checkpoint.every_minutes: with checkpoint.parts, distributed.shard_optimizer and "
       "local_steps all processes give their part of a checkpoint, and their clocks differ; take "
       "every_steps"},
      {local && ranks.shard_optimizer,
       "train.distributed.shard_optimizer: with local_steps each process needs the state of all "
       "weights; leave one of them out"},
      {local && ranks.sync_batch_norm == "true",
       "train.distributed.sync_batch_norm: with local_steps each process takes its own rows; leave "
       "one of them out"},
      {local && ranks.gradient_type != "float32",
       "train.distributed.gradient_type: with local_steps weights travel, and no gradients; leave "
       "one of them out"},
      {local && train.options.precision == "fp16",
       "train.precision: with local_steps each process would scale its losses otherwise; take bf16 "
       "or float32"}};
}

// Whether one of the recipe's callbacks looks at the pass of a step or its gradients.
bool LooksAtPasses(const TrainRecipe& train) {
  return std::ranges::any_of(train.callbacks, [](const CallbackRegistry::Configured& callback) {
    return callback.name == "noise_scale" || callback.name == "log_tensors" ||
           callback.name == "profile_steps";
  });
}

// What threads that update the weights at once do not go with.
std::vector<Conflict> ConflictsOfHogwild(const TrainRecipe& train) {
  const TrainOptions& options = train.options;
  if (options.hogwild == 1) return {};
  return {
      {options.accumulate > 1,
       "train.accumulate: with hogwild each batch makes an update of its own; leave one of them "
       "out"},
      {options.on_nonfinite != "stop",
       "train.on_nonfinite: with hogwild a step cannot be taken back, since other threads have "
       "moved the weights meanwhile; take stop, or leave hogwild out"},
      {options.detect_anomaly,
       "train.detect_anomaly: it follows one pass at a time, and hogwild makes several; leave one "
       "of them out"},
      {options.precision == "fp16",
       "train.precision: the scale of float16's losses follows from step to step, and hogwild's "
       "threads have none in common; take bf16 or float32"},
      {train.tensorboard.histograms.has_value(),
       "train.tensorboard.histograms: they are of the gradients of a whole step, and with hogwild "
       "each thread has its own; leave one of them out"},
      {LooksAtPasses(train),
       "train.callbacks: noise_scale, log_tensors and profile_steps look at the one pass of a "
       "step, and with hogwild each thread has its own; leave one of them out"}};
}

}  // namespace

Status CheckOptionsTogether(const TrainRecipe& train) {
  Problems problems;
  for (const auto& conflicts : {ConflictsOfRanks(train), ConflictsOfHogwild(train)}) {
    for (const Conflict& conflict : conflicts) {
      if (conflict.there) problems.Add(InvalidArgument("{}", conflict.says));
    }
  }
  return problems.ToStatus();
}

}  // namespace stoker
