#include "stoker/train/plan/feed.h"

#include <algorithm>

#include "stoker/base/problems.h"
#include "stoker/base/worker_group.h"
#include "stoker/data/advice/no_batch.h"
#include "stoker/data/core/ragged_fields.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/runtime/cpu_limit.h"
#include "stoker/data/transforms/layout.h"
#include "stoker/device/torch_threads.h"
#include "stoker/train/core/objective.h"
#include "stoker/train/core/precision.h"
#include "stoker/train/core/token_check.h"
#include "stoker/train/plan/training_plan.h"

namespace stoker {

int UsualFeedCpus(const c10::Device& device) {
  const int cpus = AvailableCpus();
  return device.is_cpu() ? std::max(1, cpus / 4) : cpus;
}

Runtime FeedRuntime(const TrainOptions& options) {
  return Runtime::Threaded(static_cast<int>(options.feed_threads.value_or(0)));
}

int FeedCpus(const TrainOptions& options, const c10::Device& device, int chosen) {
  if (options.feed_threads) return 0;
  return chosen > 0 ? chosen : UsualFeedCpus(device);
}

FeederOptions FeedOptions(const TrainOptions& options, const Dataset& batches,
                          const c10::Device& device, MemoryFormat memory_format) {
  FeederOptions feed{.inputs = {},
                     .targets = options.AllTargets(),
                     .sample_weight = options.WeightField(),
                     .without_rows = FieldsWithoutRows(batches),
                     .device = device,
                     .memory_format = ToTorch(memory_format)};
  for (const InputField& input : options.AllInputs()) {
    feed.inputs.push_back({.name = input.name,
                           .field = input.field,
                           .offsets = FindOffsets(batches, input.field),
                           .channels_last = HasChannelsLast(batches, input.field)});
  }
  return feed;
}

void NormalizeField(const std::string& field, const std::vector<ShiftScale>& normalize,
                    FeederOptions& feed) {
  for (FeederInput& input : feed.inputs) {
    if (input.field == field) input.normalize = normalize;
  }
}

Result<OpenedDevice> OpenDeviceFor(const TrainOptions& options) {
  if (options.threads) STOKER_RETURN_IF_ERROR(SetTorchThreads(static_cast<int>(*options.threads)));
  Result<OpenedDevice> opened = OpenDevice(options.device);
  if (!opened.ok()) return WithPrefix("train.device: ", opened.status());
  AllowTf32(options.tf32);
  return opened;
}

Result<FinderPlace> PlaceFor(const TrainOptions& options) {
  FinderPlace place;
  STOKER_ASSIGN_OR_RETURN(place.device, OpenDeviceFor(options));
  place.placement.device = place.device.device;
  const Result<MemoryFormat> format = ParseMemoryFormat(options.memory_format);
  if (format.ok()) place.placement.memory_format = *format;
  const Result<Precision> precision = ParsePrecision(options.precision);
  if (precision.ok()) place.placement.precision = *precision;
  STOKER_RETURN_IF_ERROR(
      SetTorchThreads(static_cast<int>(options.threads.value_or(AvailableCpus()))));
  return place;
}

namespace {

Result<std::unique_ptr<Feeder>> OpenFeed(const Recipe& recipe, const Dataset& batches,
                                         const Placement& placement, BatchChecks checks) {
  const TrainOptions& options = recipe.train.options;
  STOKER_ASSIGN_OR_RETURN(auto elements, batches.Open(FeedRuntime(options),
                                                      {.seed = static_cast<uint64_t>(options.seed),
                                                       .losses = LossLogging::kNone}));
  FeederOptions feed = FeedOptions(options, batches, placement.device, placement.memory_format);
  feed.check = std::move(checks);
  return Feeder::Create(std::move(elements), batches.spec(), std::move(feed));
}

}  // namespace

Result<BatchChecks> ChecksOf(const Recipe& recipe, const Dataset& batches,
                             const TrainingPlan& plan) {
  const TrainOptions& options = recipe.train.options;
  STOKER_ASSIGN_OR_RETURN(const Objective objective, BuildObjective(recipe.train));
  const RowNames names =
      NamesInSource(batches, static_cast<uint64_t>(options.seed), options.input, "data.train");
  return BatchChecks{.targets = TargetChecksOf(objective, names, plan.outputs),
                     .inputs = TokenChecksOf(plan.tokens, options.AllInputs(), names)};
}

Result<std::unique_ptr<Feeder>> OpenFeed(const Recipe& recipe, const Dataset& batches,
                                         const Placement& placement, const TrainingPlan& plan) {
  STOKER_ASSIGN_OR_RETURN(BatchChecks checks, ChecksOf(recipe, batches, plan));
  return OpenFeed(recipe, batches, placement, std::move(checks));
}

Result<TensorBatch> FirstBatchOf(const Recipe& recipe, const Placement& placement,
                                 BatchChecks checks) {
  const Dataset& train = recipe.data.train;
  STOKER_ASSIGN_OR_RETURN(const auto feeder, OpenFeed(recipe, train, placement, std::move(checks)));
  STOKER_ASSIGN_OR_RETURN(std::optional<TensorBatch> batch, feeder->Next());
  if (!batch) return NoBatch(train, "data.train");
  return *std::move(batch);
}

}  // namespace stoker
