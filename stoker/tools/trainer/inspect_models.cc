#include <algorithm>
#include <iterator>

#include "stoker/data/recipe/memory_options.h"
#include "stoker/run/recipe.h"
#include "stoker/run/registry.h"
#include "stoker/tools/inspect/kind_help.h"
#include "stoker/tools/trainer/commands.h"

namespace stoker {
namespace {

template <typename Options>
KindDescription SectionOf(std::string name, std::string help) {
  const Options defaults;
  return {.name = std::move(name),
          .help = std::move(help),
          .group = "section",
          .options = OptionsOf<Options>(),
          .defaults = FormatOptions(OptionsOf<Options>(), &defaults)};
}

std::vector<KindDescription> AllKinds() {
  std::vector<KindDescription> kinds = ModelRegistry::Known().Describe();
  std::ranges::move(LossRegistry::Known().Describe(), std::back_inserter(kinds));
  std::ranges::move(MetricRegistry::Known().Describe(), std::back_inserter(kinds));
  std::ranges::move(CallbackRegistry::Known().Describe(), std::back_inserter(kinds));
  std::ranges::move(OptimizerRegistry::Known().Describe(), std::back_inserter(kinds));
  std::ranges::move(ScheduleRegistry::Known().Describe(), std::back_inserter(kinds));
  kinds.push_back(SectionOf<TrainOptions>("train", "The keys of `train:` beside those below it."));
  kinds.push_back(SectionOf<WarmupOptions>(
      "warmup", "The keys of `train: {warmup: ...}`: a slow start of any schedule."));
  kinds.push_back(SectionOf<LrScalingOptions>(
      "lr_scaling", "The keys of `train: {lr_scaling: ...}`: the rate follows the batch."));
  kinds.push_back(SectionOf<GroupOptions>(
      "groups", "Each of the list `train: {groups: [...]}`: rates of parameters by name."));
  kinds.push_back(SectionOf<ClipOptions>(
      "clip", "The keys of `train: {clip: ...}`: gradients that are too large."));
  kinds.push_back(SectionOf<AverageOptions>(
      "average", "The keys of `train: {average: ...}`: means of the weights."));
  kinds.push_back(SectionOf<TensorboardOptions>(
      "tensorboard", "The keys of `train: {tensorboard: ...}`: event files beside the metrics."));
  kinds.push_back(SectionOf<InitFromOptions>(
      "init_from", "The keys of `train: {init_from: ...}`: first weights from elsewhere."));
  kinds.push_back(SectionOf<MemoryOptions>(
      "memory",
      "`train: {memory: 2GiB}`: the memory of the input pipelines, of the whole process."));
  kinds.push_back(SectionOf<DistributedOptions>("distributed",
                                                "The keys of `train: {distributed: ...}`: one run "
                                                "in several processes (docs/distributed.md)."));
  kinds.push_back(
      SectionOf<CheckpointOptions>("checkpoint", "The keys of `train: {checkpoint: ...}`."));
  kinds.push_back(SectionOf<LimitBatchesOptions>(
      "limit_batches", "The keys of `train: {limit_batches: ...}`: shorter epochs, for trying."));
  kinds.push_back(SectionOf<EarlyStoppingOptions>(
      "early_stopping", "The keys of `train: {early_stopping: ...}`: no longer than it helps."));
  return kinds;
}

}  // namespace

std::vector<std::string> NamesOfKinds() {
  std::vector<std::string> names;
  for (KindDescription& kind : AllKinds()) names.push_back(std::move(kind.name));
  return names;
}

Result<Inspection> InspectModels(const std::string& name) {
  return DescribeKinds(AllKinds(), name,
                       "model, loss, metric, optimizer, schedule, callback or section");
}

}  // namespace stoker
