#include "stoker/train/plan/training_plan.h"

#include <algorithm>

#include "stoker/base/problems.h"
#include "stoker/data/advice/no_batch.h"
#include "stoker/data/nodes/rank_rows.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/options/whole_pipeline.h"
#include "stoker/data/recipe/unknown_length.h"
#include "stoker/data/transforms/layout.h"
#include "stoker/device/feeder.h"
#include "stoker/run/run_schedule.h"
#include "stoker/run/train_check.h"
#include "stoker/train/core/objective.h"
#include "stoker/train/core/parameters.h"
#include "stoker/train/core/token_check.h"
#include "stoker/train/evaluation/evaluator.h"
#include "stoker/train/evaluation/metric_set.h"
#include "stoker/train/plan/batching_stage.h"
#include "stoker/train/plan/channel_order.h"
#include "stoker/train/plan/first_batch.h"
#include "stoker/train/plan/model_trial.h"
#include "stoker/train/plan/options_together.h"
#include "stoker/train/step/learner.h"

namespace stoker {
namespace {

// Those of a row, or of each input.
std::vector<FeatureLayout> FeaturesOf(const ModelInput& sample) {
  std::vector<FeatureLayout> features = {sample.features};
  for (const ModelInput& part : sample.parts) features.push_back(part.features);
  return features;
}

// What one sample is, alike in both pipelines.
Result<ModelInput> CheckData(const Recipe& recipe) {
  const TrainOptions& options = recipe.train.options;
  STOKER_ASSIGN_OR_RETURN(const ModelInput input, InputOf(options, recipe.data.train));
  if (!recipe.data.eval) return input;
  const Result<ModelInput> eval = InputOf(options, *recipe.data.eval);
  STOKER_RETURN_IF_ERROR(eval.status().While("checking data.eval"));
  if (FeaturesOf(*eval) != FeaturesOf(input)) {
    return InvalidArgument(
        "data.eval has other features than data.train: other columns, categories or embeddings; "
        "prepare both alike");
  }
  if (eval->steps != input.steps) {
    return InvalidArgument(
        "data.eval gives samples of {}, data.train of {}; make the batches of both ragged, or of "
        "neither",
        eval->ToString(), input.ToString());
  }
  if (*eval != input) {
    return InvalidArgument(
        "data.eval gives samples of {}, data.train of {} (channels x height x width); prepare "
        "both alike",
        eval->ToString(), input.ToString());
  }
  STOKER_RETURN_IF_ERROR(CheckEvaluable(*recipe.data.eval));
  return input;
}

// Batches of an epoch, and epochs to run (0: without end).
struct Length {
  int64_t batches_per_epoch = 0;
  int64_t epochs = 0;
};

// Nothing says where the run would end.
Status NoEnd(const Recipe& recipe, const Dataset& train) {
  if (train.cardinality().infinite()) {
    return InvalidArgument(
        "data.train has no end, so the run would have none: set train.max_steps, or end the "
        "pipeline with `take: {{count: N}}`, N batches an epoch");
  }
  const std::optional<ConfigNode> stages = WholePipeline(recipe.data.filled, "train");
  const UnknownLength unknown = ExplainUnknownLength(train, stages ? &*stages : nullptr);
  return InvalidArgument(
      "{}: how many batches data.train has is not known, and a run needs its number of steps: set "
      "train.max_steps, or put `repeat` and `take: {{count: N}}` after its batch, which makes "
      "epochs of N batches{}{}",
      unknown.why, unknown.advice.empty() ? "" : "; ", unknown.advice);
}

Result<Length> LengthOf(const Recipe& recipe, const Dataset& train) {
  const Cardinality batches = train.cardinality();
  const TrainOptions& options = recipe.train.options;
  if (batches.known()) {
    if (batches.value() == 0) return NoBatch(train, "data.train");
    return Length{batches.value(), options.epochs};
  }
  if (!options.max_steps) return NoEnd(recipe, train);
  int64_t all = 0;
  if (__builtin_mul_overflow(*options.max_steps, options.BatchesAStep(), &all)) {
    return InvalidArgument("train.max_steps: {} steps of {} batches are too many to count",
                           *options.max_steps, options.BatchesAStep());
  }
  return Length{all, 0};
}

// The training data of one epoch, after limit_batches and overfit_batches.
Result<Dataset> LimitedTrain(const Recipe& recipe, Dataset train) {
  for (const std::optional<int64_t>& limit :
       {recipe.train.limit_batches.train, recipe.train.options.overfit_batches}) {
    if (!limit) continue;
    STOKER_ASSIGN_OR_RETURN(train, Take{.count = *limit}.Build(train));
  }
  return train;
}

// Epochs one after the other, or the few batches that stay.
Result<Dataset> AllEpochs(const Recipe& recipe, const Length& length, const Dataset& epoch) {
  if (recipe.train.options.overfit_batches) return epoch;
  return Repeat{.count = length.epochs}.Build(epoch);
}

// What is found out by making it, before anything is written: all of it (problems.h).
Status CheckParts(const Recipe& recipe) {
  const TrainRecipe& train = recipe.train;
  Problems problems;
  TrainRecipe right = train;
  problems.Add(TakeOutWrongParts(right, right.Figures()));
  if (!recipe.data.eval && (train.early_stopping.stops() || !train.checkpoint.best.empty())) {
    problems.Add(InvalidArgument(
        "train.{} follows evaluations, and the recipe has no data.eval; give it one",
        train.early_stopping.stops() ? "early_stopping" : "checkpoint.best"));
  }
  problems.Add(CheckOptionsTogether(train));
  return problems.ToStatus();
}

// A model that cannot be made for pictures whose channels stand last speaks of a width that is
// none.
Result<std::shared_ptr<Model>> TryToBuild(const Recipe& recipe, const ModelInput& input) {
  Result<std::shared_ptr<Model>> model = BuildModel(recipe.model, input, /*seed=*/0, {});
  if (model.ok()) return model;
  for (const InputField& each : recipe.train.options.AllInputs()) {
    const std::optional<ChannelDoubt> doubt = DoubtChannels(recipe.data.train, each.field);
    if (!doubt) continue;
    return Status(model.status().code(), fmt::format("{}; {}: {}; {}", model.status().message(),
                                                     each.field, doubt->problem, doubt->advice));
  }
  return model;
}

// Nothing may follow an accuracy that there is none of.
//   accuracy  the name of that figure in evaluations
//   why       there is none, and what to take
Status CheckIsNotFollowed(const TrainRecipe& train, const std::string& accuracy,
                          std::string_view why) {
  const auto refuse = [&](std::string_view key) {
    return InvalidArgument("train.{} is {}, and evaluations have none: {}", key, accuracy, why);
  };
  if (train.early_stopping.stops() && train.early_stopping.metric == accuracy)
    return refuse("early_stopping.metric");
  if (train.checkpoint.best == accuracy) return refuse("checkpoint.best");
  return OkStatus();
}

Status CheckAccuraciesAreThere(const TrainRecipe& train, const Schedule& schedule,
                               const PlannedTargets& targets) {
  const bool of_several = !train.targets.empty();
  if (!of_several && (targets.kinds.empty() || targets.have_accuracy())) return OkStatus();
  const char* const why =
      of_several ? "there are several targets; take loss, or name the accuracy of one, as in "
                   "NAME.accuracy"
                 : "their targets are numbers; take loss, or mse or mae, which train.metrics may "
                   "name";
  STOKER_RETURN_IF_ERROR(CheckIsNotFollowed(train, "accuracy", why));
  if (schedule.follows_accuracy()) {
    return InvalidArgument(
        "train.schedule's monitor is accuracy, and evaluations have none: {}; take loss",
        of_several ? "there are several targets" : "their targets are numbers");
  }
  for (size_t i = 0; i < std::min(targets.kinds.size(), train.targets.size()); ++i) {
    if (targets.kinds[i] != TargetKind::kNumbers) continue;
    STOKER_RETURN_IF_ERROR(CheckIsNotFollowed(
        train, FigureOfTarget(train.targets[i].field, "accuracy"),
        "this target has numbers; take its loss, or one of its metrics, such as mse or mae"));
  }
  return OkStatus();
}

// What follows from recipe and samples alone, whatever their number.
struct CheckedRecipe {
  ModelInput input;  // what a sample is
  std::string noun = "sample";
  // Of the model, as in TrainingPlan.
  std::optional<int64_t> outputs;
  TokensByInput tokens;
};

// Samples must not change with what else is in their batch.
Status CheckPaddings(const Recipe& recipe, const TokensByInput& known) {
  const std::vector<InputField> inputs = recipe.train.options.AllInputs();
  Problems problems;
  problems.Add(CheckPaddings(known, recipe.data.train, inputs, "data.train"));
  if (recipe.data.eval) problems.Add(CheckPaddings(known, *recipe.data.eval, inputs, "data.eval"));
  return problems.ToStatus();
}

// A run would end with its first epoch.
Status CheckLastBatch(const Recipe& recipe, Model& model, const ModelInput& input) {
  STOKER_ASSIGN_OR_RETURN(const Dataset epoch, LimitedTrain(recipe, recipe.data.train));
  if (SamplesOfLastBatch(epoch) != 1) return OkStatus();
  const TrainOptions& options = recipe.train.options;
  const int64_t steps_before = (epoch.cardinality().value() - 1) / options.BatchesAStep();
  if (options.max_steps && *options.max_steps <= steps_before) return OkStatus();
  return TryOneSample(model, input)
      .While("trying the model on one sample, as the last batch of data.train has");
}

// Whether the model can be made for such samples, and takes them.
Status CheckModel(const Recipe& recipe, CheckedRecipe& checked) {
  STOKER_ASSIGN_OR_RETURN(const auto model, TryToBuild(recipe, checked.input));
  checked.tokens = model->TokensOfAll();
  checked.noun = NounOf(*model, checked.input);
  STOKER_RETURN_IF_ERROR(CheckPaddings(recipe, checked.tokens));
  STOKER_RETURN_IF_ERROR(ParametersToTrain(*model, recipe.train).status());
  const TrainOptions& options = recipe.train.options;
  STOKER_RETURN_IF_ERROR(
      model->CheckpointActivations(options.activation_checkpointing)
          .While(fmt::format("reading {}", recipe.train.NameOf("activation_checkpointing"))));
  if (!options.sanity) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(checked.outputs, TryModel(recipe, *model, recipe.data.train));
  return CheckLastBatch(recipe, *model, checked.input);
}

Result<PlannedTargets> PlanTargets(const Recipe& recipe, std::optional<int64_t> outputs) {
  const bool evaluates = recipe.data.eval.has_value();
  STOKER_ASSIGN_OR_RETURN(const std::vector<Field> fields,
                          TargetFields(recipe, evaluates ? *recipe.data.eval : recipe.data.train));
  PlannedTargets targets{.form = FormOf(fields), .kinds = {}};
  if (!outputs) return targets;
  STOKER_ASSIGN_OR_RETURN(
      targets.kinds,
      KindsOfTargets(recipe, fields, evaluates ? "data.eval" : "data.train", *outputs));
  if (!evaluates) return targets;
  STOKER_ASSIGN_OR_RETURN(const Objective objective, BuildObjective(recipe.train));
  for (size_t i = 0; i < fields.size(); ++i) {
    const ObjectivePart& part = objective.parts()[i];
    STOKER_RETURN_IF_ERROR(MetricSet::CheckFor(part.metrics, targets.kinds[i], part.field));
  }
  return targets;
}

// Samples of a step, where that is known and a number.
std::optional<int64_t> SamplesOfStep(const Recipe& recipe) {
  const TrainOptions& options = recipe.train.options;
  std::optional<int64_t> samples = BatchSizeOf(recipe.data, options.input);
  if (samples && __builtin_mul_overflow(*samples, options.accumulate, &*samples))
    return std::nullopt;
  return samples;
}

Status CheckSchedule(const Recipe& recipe, const SchedulePlan& steps,
                     const PlannedTargets& targets) {
  STOKER_ASSIGN_OR_RETURN(const auto schedule,
                          BuildRunSchedule(recipe.train, steps, SamplesOfStep(recipe)));
  STOKER_RETURN_IF_ERROR(CheckAccuraciesAreThere(recipe.train, *schedule, targets));
  if (!schedule->follows_evaluations() || recipe.data.eval) return OkStatus();
  return InvalidArgument(
      "the schedule {} follows evaluations, and the recipe has no data.eval; give it one, or take "
      "another schedule",
      recipe.train.schedule.name);
}

// Errors: all that do not follow from each other.
Result<CheckedRecipe> CheckRecipe(const Recipe& recipe) {
  Problems problems;
  CheckedRecipe checked;
  problems.Take(CheckData(recipe), checked.input);
  const bool fits = problems.empty();
  problems.Add(CheckParts(recipe));
  if (fits) problems.Add(CheckModel(recipe, checked));
  STOKER_RETURN_IF_ERROR(problems.ToStatus());
  return checked;
}

struct PlannedBatches {
  PlacedPipeline placed;           // of all epochs
  std::optional<Dataset> on_host;  // TrainingPlan::host_batches
  Length length;
  bool makes_all = false;  // TrainingPlan::makes_all
};

// Leaves the rows of one rank.
Status LeaveShare(PlannedBatches& batches, const RowShare& share) {
  STOKER_ASSIGN_OR_RETURN(RankRows rows, RowsOfRank(batches.placed.dataset, share));
  batches.makes_all = rows.makes_all;
  batches.placed.dataset = std::move(rows.dataset);
  if (!batches.on_host) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(RankRows on_host, RowsOfRank(*batches.on_host, share));
  batches.on_host = std::move(on_host.dataset);
  return OkStatus();
}

// With fewer rows some ranks would only wait for others.
Status CheckRowsSuffice(const Recipe& recipe, const RowShare& share) {
  const std::optional<int64_t> rows = BatchSizeOf(recipe.data, recipe.train.options.input);
  if (!rows || *rows >= share.world) return OkStatus();
  return InvalidArgument(
      "data.train makes batches of {}, and {} processes share the rows of each: give batch at "
      "least {}, or start fewer processes",
      *rows, share.world, share.world);
}

Result<PlannedBatches> PlanBatches(const Recipe& recipe, c10::Device device) {
  STOKER_ASSIGN_OR_RETURN(PlacedPipeline placed, PlaceTrain(recipe, device));
  STOKER_ASSIGN_OR_RETURN(placed.dataset, LimitedTrain(recipe, std::move(placed.dataset)));
  STOKER_ASSIGN_OR_RETURN(const Length length, LengthOf(recipe, placed.dataset));
  STOKER_ASSIGN_OR_RETURN(placed.dataset, AllEpochs(recipe, length, placed.dataset));
  std::optional<Dataset> on_host;
  if (recipe.train.options.normalize_on == "auto" && !placed.normalize.empty()) {
    STOKER_ASSIGN_OR_RETURN(const Dataset epoch, LimitedTrain(recipe, recipe.data.train));
    STOKER_ASSIGN_OR_RETURN(on_host, AllEpochs(recipe, length, epoch));
  }
  return PlannedBatches{std::move(placed), std::move(on_host), length};
}

Result<SchedulePlan> PlanSteps(const TrainOptions& options, const Length& length) {
  SchedulePlan plan{.steps_per_epoch = (length.batches_per_epoch - 1) / options.BatchesAStep() + 1};
  plan.total_steps = plan.steps_per_epoch;
  if (length.epochs > 0 &&
      __builtin_mul_overflow(plan.steps_per_epoch, length.epochs, &plan.total_steps)) {
    return InvalidArgument("train.epochs: {} epochs of {} steps are too many to count",
                           length.epochs, plan.steps_per_epoch);
  }
  plan.total_steps = std::min(plan.total_steps, options.max_steps.value_or(plan.total_steps));
  return plan;
}

// Whether there is an end, and a schedule for it, for where no batches can be planned.
Status CheckSteps(const Recipe& recipe) {
  STOKER_ASSIGN_OR_RETURN(const Dataset train, LimitedTrain(recipe, recipe.data.train));
  STOKER_ASSIGN_OR_RETURN(const Length length, LengthOf(recipe, train));
  STOKER_ASSIGN_OR_RETURN(const SchedulePlan steps, PlanSteps(recipe.train.options, length));
  return CheckSchedule(recipe, steps, /*targets=*/{});
}

}  // namespace

Result<TrainingPlan> MakePlan(const Recipe& recipe, c10::Device device, const RowShare& share) {
  const TrainOptions& options = recipe.train.options;
  Problems problems;
  CheckedRecipe checked;
  PlannedTargets targets;
  problems.Take(CheckRecipe(recipe), checked);
  if (problems.empty()) problems.Take(PlanTargets(recipe, checked.outputs), targets);
  // The number of steps and the schedule can be checked without fields and model.
  if (!problems.empty()) problems.Add(CheckSteps(recipe));
  STOKER_RETURN_IF_ERROR(problems.ToStatus());
  STOKER_RETURN_IF_ERROR(CheckRowsSuffice(recipe, share));
  STOKER_ASSIGN_OR_RETURN(PlannedBatches batches, PlanBatches(recipe, device));
  STOKER_RETURN_IF_ERROR(LeaveShare(batches, share));
  STOKER_ASSIGN_OR_RETURN(const SchedulePlan steps, PlanSteps(options, batches.length));
  const int64_t batches_per_epoch = batches.length.batches_per_epoch;
  std::optional<int64_t> again = options.overfit_batches;
  if (again) again = std::min(*again, batches_per_epoch);
  TrainingPlan plan{.batches = std::move(batches.placed),
                    .host_batches = std::move(batches.on_host),
                    .input = checked.input,
                    .noun = std::move(checked.noun),
                    .outputs = checked.outputs,
                    .tokens = checked.tokens,
                    .targets = std::move(targets),
                    .schedule = steps,
                    .batch_size = SamplesOfStep(recipe),
                    .batches_per_epoch = batches_per_epoch,
                    .again = again,
                    .batches_a_step = options.BatchesAStep(),
                    .makes_all = batches.makes_all};
  STOKER_RETURN_IF_ERROR(CheckSchedule(recipe, plan.schedule, plan.targets));
  return plan;
}

}  // namespace stoker
