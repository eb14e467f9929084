#include "stoker/train/check/recipe_trial.h"

#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>

#include <memory>
#include <optional>

#include "stoker/base/problems.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/runtime/cpu_limit.h"
#include "stoker/device/device_prefetcher.h"
#include "stoker/device/torch_error.h"
#include "stoker/train/core/objective.h"
#include "stoker/train/core/parameters.h"
#include "stoker/train/core/token_check.h"
#include "stoker/train/evaluation/evaluator.h"
#include "stoker/train/plan/feed.h"
#include "stoker/train/plan/first_batch.h"
#include "stoker/train/plan/initial_vectors.h"
#include "stoker/train/plan/model_trial.h"
#include "stoker/train/plan/no_effect.h"
#include "stoker/train/plan/training_plan.h"
#include "stoker/train/step/learner.h"

namespace stoker {
namespace {

constexpr const char* kBatches =
    "the first batches of data.train and data.eval with model, loss and metrics";

Result<std::unique_ptr<DevicePrefetcher>> OpenFirstBatch(const Recipe& recipe, const Dataset& data,
                                                         const RowNames& names, Learner& learner) {
  const TrainOptions& options = recipe.train.options;
  STOKER_ASSIGN_OR_RETURN(const Dataset first, Take{.count = 1}.Build(data));
  FeederOptions feed = FeedOptions(options, first, c10::kCPU, MemoryFormat::kContiguous);
  feed.check = {.targets = TargetChecksOf(learner.objective(), names, std::nullopt),
                .inputs = TokenChecksOf(learner.model().TokensOfAll(), options.AllInputs(), names)};
  return DevicePrefetcher::Open(
      first, FeedRuntime(options),
      {.seed = static_cast<uint64_t>(options.seed), .losses = LossLogging::kNone}, std::move(feed),
      /*ahead=*/0);
}

// The targets of a whole batch; its first samples have been through the model.
Status TryTrainBatch(const Recipe& recipe, Learner& learner) {
  const TrainOptions& options = recipe.train.options;
  const RowNames names = NamesInSource(recipe.data.train, static_cast<uint64_t>(options.seed),
                                       options.input, "data.train");
  STOKER_ASSIGN_OR_RETURN(const auto batches,
                          OpenFirstBatch(recipe, recipe.data.train, names, learner));
  STOKER_ASSIGN_OR_RETURN(const std::optional<TensorBatch> batch, batches->Next());
  if (!batch) return OkStatus();  // TryFirstSamples has looked
  const c10::InferenceMode no_gradients;
  learner.model().eval();
  at::Tensor scores;
  STOKER_RETURN_IF_ERROR(
      CatchTorchErrors([&] { scores = learner.model().ForwardAll(batch->input.Rows(0, 1)); }));
  return CheckTargets(learner.objective(), *batch, scores.size(1), names);
}

Status TryEvalBatch(const Recipe& recipe, Learner& learner) {
  if (!recipe.data.eval) return OkStatus();
  const TrainOptions& options = recipe.train.options;
  const RowNames names = NamesInSource(*recipe.data.eval, /*seed=*/0, options.input, "data.eval");
  STOKER_ASSIGN_OR_RETURN(const auto batches,
                          OpenFirstBatch(recipe, *recipe.data.eval, names, learner));
  return Evaluate(learner.model(), {learner.objective(), names}, *batches)
      .status()
      .While("trying the first batch of data.eval");
}

Result<FeederFields> FieldsOf(const TrainOptions& options, const Dataset& data) {
  return FindFeederFields(data.spec(),
                          FeedOptions(options, data, c10::kCPU, MemoryFormat::kContiguous));
}

Result<std::shared_ptr<Model>> BuildFor(const ModelRegistry::Configured& model,
                                        const TrainOptions& options, const Dataset& data) {
  STOKER_ASSIGN_OR_RETURN(const ModelInput input, InputOf(options, data));
  return BuildModel(model, input, /*seed=*/0, {});
}

Status TryWithModel(Model& model, const TrainRecipe& train, const Dataset& data) {
  Problems problems;
  problems.Add(ParametersToTrain(model, train).status());
  problems.Add(model.CheckpointActivations(train.options.activation_checkpointing)
                   .While(fmt::format("reading {}", train.NameOf("activation_checkpointing"))));
  problems.Add(InitializeModel(model, train, data).status());
  return problems.ToStatus();
}

}  // namespace

Status TryParts(const CheckedTrain& train, const ModelRegistry::Configured* model,
                const Dataset* data) {
  const TrainRecipe& recipe = train.train;
  Problems problems;
  if (train.Reads("device")) problems.Add(OpenDeviceFor(recipe.options).status());
  Status fields;
  const bool knows_fields = data != nullptr && train.Reads("input") && train.Reads("target");
  if (knows_fields) fields = FieldsOf(recipe.options, *data).status();
  problems.Add(fields);
  if (knows_fields && fields.ok() && model != nullptr) {
    const auto made = BuildFor(*model, recipe.options, *data);
    problems.Add(made.ok() ? TryWithModel(**made, recipe, *data) : made.status());
    if (made.ok()) return problems.ToStatus();
  }
  problems.Add(TryWeightsFile(recipe.init_from));
  return problems.ToStatus();
}

RecipeTrial TryTraining(const Recipe& recipe) {
  const PipelineCpuScope cpus(FeedCpus(recipe.train.options, c10::kCPU));
  Problems problems;
  problems.Add(OpenDeviceFor(recipe.train.options).status());
  const Result<TrainingPlan> plan = MakePlan(recipe);
  if (!plan.ok()) {
    problems.Add(plan.status());
    // Where no model can be made, the plan has said why.
    const auto model = BuildFor(recipe.model, recipe.train.options, recipe.data.train);
    problems.Add(model.ok() ? TryWithModel(**model, recipe.train, recipe.data.train)
                            : TryWeightsFile(recipe.train.init_from));
    return {problems.ToStatus(), fmt::format("{}, since findings stand in the way", kBatches)};
  }
  const Result<std::unique_ptr<Learner>> learner =
      Learner::Create(recipe, plan->input, {}, plan->schedule);
  if (!learner.ok()) {
    problems.Add(learner.status());
    return {problems.ToStatus(), fmt::format("{}, since findings stand in the way", kBatches)};
  }
  problems.Add(InitializeModel((*learner)->model(), recipe.train, recipe.data.train).status());
  std::vector<std::string> warnings = SettingsWithoutEffect(recipe, *plan);
  if (std::string missing = MissingEvaluation(recipe); !missing.empty())
    warnings.push_back(std::move(missing));
  if (!recipe.train.options.sanity) {
    return {problems.ToStatus(), fmt::format("{}, since train.sanity is off", kBatches),
            std::move(warnings)};
  }
  const Status first = TryFirstSamples(recipe).status();
  problems.Add(first.ok() ? TryTrainBatch(recipe, **learner) : first);
  problems.Add(TryEvalBatch(recipe, **learner));
  return {problems.ToStatus(), "", std::move(warnings)};
}

}  // namespace stoker
