#include "stoker/train/tune/batch_finder.h"

#include <ATen/Parallel.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>
#include <torch/utils.h>

#include <algorithm>
#include <limits>

#include "stoker/base/ledger.h"
#include "stoker/data/runtime/cpu_limit.h"
#include "stoker/device/torch_error.h"
#include "stoker/train/plan/batching_stage.h"
#include "stoker/train/plan/feed.h"
#include "stoker/train/plan/plan_of_steps.h"
#include "stoker/train/tune/batch_trials.h"
#include "stoker/train/tune/tune_knobs.h"

namespace stoker {
namespace {

// For a run of unknown length: the result does not depend on it.
constexpr int64_t kStepsOfAnyRun = 1000;
constexpr int64_t kRandomSamples = 2;  // that batches are made of: their values do not matter
constexpr int64_t kRandomTokens = 64;  // of a sequence

uint64_t LimitOf(uint64_t wanted, const Placement& placement) {
  if (wanted != 0) return wanted;
  if (!placement.device.is_cpu()) return std::numeric_limits<uint64_t>::max();
  return static_cast<uint64_t>(MemoryLimitBytes()) / 5 * 4;
}

std::string SizeKeyOf(const Dataset& batches) {
  const DatasetNode* const stage = BatchingStage(batches);
  const std::string name = stage == nullptr ? "batch" : stage->name();
  // One number there is the size of every bucket.
  return fmt::format("data.train.{}.{}", name, name == "bucket_by_length" ? "sizes" : "size");
}

Inputs RandomInput(const ModelInput& input) {
  if (!input.parts.empty()) {
    std::vector<at::Tensor> parts;
    for (const ModelInput& part : input.parts) parts.push_back(RandomInput(part).only());
    return Inputs(std::move(parts));
  }
  if (input.tokens) return at::ones({kRandomSamples, kRandomTokens}, at::kLong);
  at::Tensor values = at::randn({kRandomSamples, input.channels, input.height, input.width});
  int64_t slot = 0;
  for (const FeatureColumn& column : input.features.columns) {
    at::Tensor slots = values.narrow(/*dim=*/1, slot, column.slots);
    if (!column.is_numbers()) slots.random_(column.categories);
    slot += column.slots;
  }
  return values;
}

// As many classes as the model tells apart, by what it answers.
Result<TensorBatch> RandomBatch(Model& model, const ModelInput& input, c10::Device device) {
  TensorBatch batch;
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] {
    const at::NoGradGuard no_grad;
    torch::manual_seed(1);
    batch.input = RandomInput(input);
    model.eval();
    const int64_t classes = model.ForwardAll(batch.input).size(1);
    batch.input = batch.input.To(device);
    batch.target = at::randint(classes, {kRandomSamples}, at::kLong).to(device);
  }));
  return batch;
}

// Read by as many threads as training may use.
Result<TensorBatch> FirstSamples(const Recipe& recipe, const Placement& placement,
                                 const TrainingPlan& plan) {
  const PipelineCpuScope cpus(FeedCpus(recipe.train.options, placement.device));
  STOKER_ASSIGN_OR_RETURN(BatchChecks checks, ChecksOf(recipe, recipe.data.train, plan));
  return FirstBatchOf(recipe, placement, std::move(checks));
}

}  // namespace

Result<BatchFinding> FindBatch(const Recipe& recipe, const BatchFindOptions& options) {
  STOKER_ASSIGN_OR_RETURN(FinderPlace place, PlaceFor(recipe.train.options));
  STOKER_ASSIGN_OR_RETURN(const TrainingPlan plan, MakePlanOfSteps(recipe, kStepsOfAnyRun));
  // As the run would train where nothing is timed.
  place.placement.memory_format = FirstChoices(recipe, plan, place.placement.device).memory_format;
  STOKER_ASSIGN_OR_RETURN(TensorBatch samples, FirstSamples(recipe, place.placement, plan));
  const uint64_t limit = LimitOf(options.memory_bytes, place.placement);
  STOKER_ASSIGN_OR_RETURN(
      const auto trials,
      BatchTrials::Create(recipe, plan.input, place.placement, std::move(samples),
                          {.memory_bytes = limit, .seconds = options.seconds}));
  const std::optional<int64_t> in_data = SamplesOf(recipe.data.train);
  BatchSearch search(std::min(options.most, in_data.value_or(options.most)));
  STOKER_RETURN_IF_ERROR(SearchBatches(*trials, search, nullptr));
  STOKER_RETURN_IF_ERROR(trials->RetimeOutliers());
  return BatchFinding{.trials = trials->trials(),
                      .largest = search.largest(),
                      .samples = in_data,
                      .noun = plan.noun,
                      .memory_bytes = limit,
                      .limited = limit != std::numeric_limits<uint64_t>::max(),
                      .device = place.device.description,
                      .key = SizeKeyOf(recipe.data.train)};
}

Result<ModelBench> BenchModel(const ModelRegistry::Configured& model,
                              const ModelBenchOptions& options) {
  // Nothing is read: the trials take no data from a recipe.
  Recipe recipe{.data = {.root = {}, .train = Dataset(nullptr)}, .model = model, .train = {}};
  recipe.train.options.device = options.device;
  if (options.threads > 0) recipe.train.options.threads = options.threads;
  STOKER_ASSIGN_OR_RETURN(const auto built, BuildModel(model, options.input, /*seed=*/1, {}));
  const bool images =
      options.input.height > 1 && options.input.width > 1 && !built->ReadsSequences();
  recipe.train.options.memory_format = options.memory_format != "auto" ? options.memory_format
                                       : images                        ? "channels_last"
                                                                       : "contiguous";
  STOKER_ASSIGN_OR_RETURN(const FinderPlace place, PlaceFor(recipe.train.options));
  STOKER_ASSIGN_OR_RETURN(TensorBatch samples,
                          RandomBatch(*built, options.input, place.placement.device));
  STOKER_ASSIGN_OR_RETURN(
      const auto trials,
      BatchTrials::Create(recipe, options.input, place.placement, std::move(samples),
                          {.memory_bytes = LimitOf(options.memory_bytes, place.placement),
                           .seconds = options.seconds,
                           .forward_only = options.forward_only}));
  for (const int64_t size : options.sizes) STOKER_RETURN_IF_ERROR(trials->Try(size).status());
  STOKER_RETURN_IF_ERROR(trials->RetimeOutliers());
  return ModelBench{.trials = trials->trials(),
                    .parameters = CountParameters(*built),
                    .noun = NounOf(*built, options.input),
                    .device = place.device.description,
                    .memory_format = recipe.train.options.memory_format,
                    .threads = at::get_num_threads()};
}

}  // namespace stoker
