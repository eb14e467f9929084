#include "stoker/train/loop/training_start.h"

#include <torch/version.h>

#include <utility>

#include "stoker/base/trace.h"
#include "stoker/cluster/agreement.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/ops/take.h"
#include "stoker/run/allowed_changes.h"
#include "stoker/run/build_kind.h"
#include "stoker/run/run_environment.h"
#include "stoker/run/run_schedule.h"
#include "stoker/train/check/model_lint.h"
#include "stoker/train/loop/checkpoint_parts.h"
#include "stoker/train/loop/tensorboard_tensors.h"
#include "stoker/train/loop/training_checkpoints.h"
#include "stoker/train/loop/training_evaluation.h"
#include "stoker/train/plan/feed.h"
#include "stoker/train/plan/initial_weights.h"
#include "stoker/train/plan/model_trial.h"
#include "stoker/train/plan/no_effect.h"
#include "stoker/train/plan/normalize_place.h"
#include "stoker/train/step/random_state.h"
#include "stoker/train/tune/step_tuner.h"
#include "stoker/train/tune/tune_knobs.h"

namespace stoker {
namespace {

// False if an input of them has changed, or they do not fit what the recipe says.
Result<bool> KeepChoices(const TrainingSession& session, const Choices& before) {
  const std::string device = session.setup.device.device.str();
  if (before.device != device && !session.setup.allow_changes) {
    return FailedPrecondition(
        "the run has computed on {} and would go on on {}, which gives other bits: go on where it "
        "began, start a new run, or allow changes (--allow-changes)",
        before.device, device);
  }
  const TrainOptions& options = session.options();
  const bool fits =
      (!options.threads || *options.threads == before.threads) &&
      (options.memory_format == "auto" ||
       options.memory_format == MemoryFormatName(before.memory_format)) &&
      (options.precision == "auto" || options.precision == PrecisionName(before.precision)) &&
      (options.cudnn_benchmark == "auto" ||
       (options.cudnn_benchmark == "on") == before.cudnn_benchmark) &&
      (options.graph == "auto" || !before.graph) &&
      (options.denormals == "auto" || (options.denormals == "flush") == before.flush_denormals) &&
      (options.normalize_on == "auto" || !before.normalize_on_host);
  return fits && !session.setup.choose_again && before.device == device;
}

// A run that has chosen once keeps its choices: others could change its bits.
Result<TuneReport> ChooseAlone(TrainingSession& session) {
  STOKER_ASSIGN_OR_RETURN(const std::optional<Choices> before,
                          ReadRunChoices(session.setup.run.paths().root));
  if (before) {
    STOKER_ASSIGN_OR_RETURN(const bool keep, KeepChoices(session, *before));
    if (keep) {
      session.choices = *before;
      STOKER_RETURN_IF_ERROR(ApplyChoices(session.choices));
      return TuneReport{.reason = "as chosen when the run began", .as_before = true};
    }
  }
  const TraceSpan span("time the alternatives");
  if (session.setup.group) session.setup.group->Does("timing the tuner's alternatives");
  STOKER_ASSIGN_OR_RETURN(Tuned tuned,
                          Tune(session.setup.recipe, session.plan(), session.setup.device.device));
  session.choices = tuned.choices;
  return std::move(tuned.report);
}

// Ranks that train together choose what rank 0 does.
Result<TuneReport> Choose(TrainingSession& session) {
  Group* const group = session.setup.group.get();
  if (group == nullptr) return ChooseAlone(session);
  Result<TuneReport> report = session.keeps_run() ? ChooseAlone(session) : TuneReport();
  STOKER_RETURN_IF_ERROR(AgreeOn(session, report.status(), "the choices of the tuner"));
  STOKER_ASSIGN_OR_RETURN(
      const std::string text,
      TextOfFirst(*group, session.choices.ToJson().dump(), "the choices of the tuner"));
  if (session.keeps_run()) return report;
  STOKER_ASSIGN_OR_RETURN(session.choices, Choices::FromJson(Json::parse(text)));
  STOKER_RETURN_IF_ERROR(ApplyChoices(session.choices));
  return report;
}

RowNames TrainRowNames(const TrainingSession& session) {
  const TrainOptions& options = session.options();
  return NamesInSource(session.plan().batches.dataset, static_cast<uint64_t>(options.seed),
                       options.input, "data.train");
}

Placement PlacementOf(const TrainingSession& session) {
  return {.device = session.setup.device.device,
          .memory_format = session.choices.memory_format,
          .precision = session.choices.precision};
}

Status BuildLearner(TrainingSession& session) {
  const TraceSpan span("build the model");
  const TrainOptions& options = session.options();
  STOKER_ASSIGN_OR_RETURN(
      session.learner,
      Learner::Create(session.setup.recipe, session.plan().input, PlacementOf(session),
                      session.plan().schedule,
                      {.group = session.setup.group.get(),
                       .divisor = static_cast<double>(session.plan().batch_size.value_or(1))}));
  session.learner->Check(
      {.gradients = options.on_nonfinite != "stop", .layers = options.detect_anomaly});
  session.learner->NameRows(TrainRowNames(session));
  session.outputs = OutputsToCheck(session.plan().outputs, session.learner->model(),
                                   session.plan().input, session.setup.device.device);
  return OkStatus();
}

// If passes cannot be recorded, the run goes on: their work is launched piece by piece.
void RecordPasses(TrainingSession& session) {
  if (session.options().graph != "on" && !session.choices.graph) return;
  std::string why = GraphObstacle(session.options());
  if (why.empty() && session.learner->has_row_gradients())
    why = "the optimizer's `lazy` updates differ in their size from batch to batch";
  if (why.empty()) {
    Result<std::unique_ptr<DeviceGraph>> graph = NewDeviceGraph(session.setup.device.device);
    if (graph.ok()) return session.learner->UseGraph(*std::move(graph));
    why = graph.status().message();
  }
  session.setup.warnings.push_back(fmt::format("train.graph: passes are not recorded: {}", why));
}

Status OpenBatches(TrainingSession& session) {
  const auto seed = static_cast<uint64_t>(session.options().seed);
  const PlacedPipeline batches = session.plan().BatchesFor(session.choices);
  Runtime runtime = FeedRuntime(session.options());
  runtime.stop = session.stop;
  STOKER_ASSIGN_OR_RETURN(
      auto prefetcher,
      DevicePrefetcher::Open(
          batches.dataset, runtime,
          {.seed = seed,
           // One process writes a log of losses.
           .losses = session.keeps_run() ? LossLogging::kEach : LossLogging::kNone},
          FeedOptions(session, batches.dataset, batches.normalize, TrainRowNames(session)),
          BatchesAhead(session)));
  session.batches = std::make_unique<BatchSource>(std::move(prefetcher), session.plan().again);
  return OkStatus();
}

// Its files are opened and its first batch is evaluated now: an error in them must not cost the
// first epoch.
Status TryEvaluation(TrainingSession& session) {
  const TraceSpan span("try the evaluation");
  if (!session.setup.recipe.data.eval) return OkStatus();
  PlacedPipeline placed =
      PlaceEval(session.setup.recipe, session.setup.device.device, session.choices);
  session.eval = std::move(placed.dataset);
  session.eval_normalize = std::move(placed.normalize);
  const Dataset all = *session.eval;
  if (const auto& limit = session.setup.recipe.train.limit_batches.eval) {
    STOKER_ASSIGN_OR_RETURN(session.eval, Take{.count = *limit}.Build(all));
  }
  if (!session.options().sanity) {
    return session.eval->Open(FeedRuntime(session.options()), {.losses = LossLogging::kNone})
        .status()
        .While("opening data.eval");
  }
  if (session.setup.group) session.setup.group->Does("trying the first batch of data.eval");
  const Json random = SaveRandomState(session.setup.device.device);
  STOKER_ASSIGN_OR_RETURN(const Dataset first, Take{.count = 1}.Build(all));
  const Result<Evaluation> tried = EvaluateOn(session, first, LossLogging::kNone, /*stop=*/nullptr);
  STOKER_RETURN_IF_ERROR(RestoreRandomState(random, session.setup.device.device));
  return tried.status().While("trying the first batch of data.eval");
}

// Its findings are warnings, as is its own failure: neither stops the run.
void Lint(TrainingSession& session) {
  const TraceSpan span("lint");
  std::vector<std::string>& warnings = session.setup.warnings;
  const Result<std::vector<LintFinding>> findings =
      LintRecipe(session.setup.recipe, session.setup.device.device,
                 std::exchange(session.setup.first_batch, std::nullopt));
  if (!findings.ok()) {
    warnings.push_back(
        fmt::format("lint: the model could not be looked at: {}", findings.status().message()));
    return;
  }
  for (const LintFinding& finding : *findings) {
    if (!finding.hint) warnings.emplace_back("lint: " + finding.ToText());
  }
}

Status BuildCallbacks(TrainingSession& session) {
  const std::shared_ptr<const Learned>& learned = session.setup.recipe.data.learned;
  session.view = std::make_unique<RunView>(
      RunView{.model = session.learner->model(),
              .run = session.setup.run.paths().root,
              .total_steps = session.plan().total_steps(),
              .steps_per_epoch = session.plan().steps_per_epoch(),
              .learner = *session.learner,
              .rank = session.rank(),
              .origin = {.arrays = {},
                         .sample = session.plan().input.ToString(),
                         .target = session.plan().targets.form,
                         .learned = learned ? learned->ChecksumOfValues() : std::string()},
              .measured = session.setup.recipe.train.Figures()});
  for (const CallbackRegistry::Configured& configured : session.setup.recipe.train.callbacks) {
    STOKER_ASSIGN_OR_RETURN(std::shared_ptr<Callback> callback, BuildKind(configured));
    session.callbacks.Add(configured.name, std::move(callback), configured.location);
  }
  return OkStatus();
}

// Only now: had the run not fitted the recipe, it would have kept its own. In this order, so that a
// run killed in between has no results of another recipe, may go on from a checkpoint of the recipe
// before, and never has choices of another recipe: those that were made again go before it changes.
Status StoreDecisions(TrainingSession& session, const TuneReport& tuning) {
  RunDirectory& run = session.setup.run;
  const bool finished = session.at_end() && session.progress.closed_step == session.progress.step;
  if (!finished) STOKER_RETURN_IF_ERROR(run.RemoveResults());
  if (session.setup.resume && session.setup.allow_changes) {
    STOKER_RETURN_IF_ERROR(WriteAllowedChanges(
        run.paths().root,
        {.checkpoint = session.last_checkpoint, .recipe = session.setup.recipe_changed}));
  }
  if (!tuning.as_before) STOKER_RETURN_IF_ERROR(run.RemoveChoices());
  if (session.setup.recipe_changed) {
    STOKER_RETURN_IF_ERROR(run.WriteRecipe(session.setup.recipe.Filled()));
  }
  STOKER_RETURN_IF_ERROR(run.WriteData(session.setup.data_marks));
  STOKER_RETURN_IF_ERROR(WriteRunEnvironment(
      run.paths().root, DescribeEnvironment(TORCH_VERSION, session.setup.device.description)));
  if (!tuning.as_before) STOKER_RETURN_IF_ERROR(run.WriteTuning(tuning.ToJson()));
  return run.WriteChoices(session.choices);
}

void TellStart(TrainingSession& session, TuneReport tuning) {
  std::vector<std::string> warnings = std::move(session.setup.warnings);
  if (session.plan().makes_all) {
    warnings.emplace_back(
        "each process makes the samples of all and drops those of the others, since data.train is "
        "read in order, or batches need all of their rows: the input costs each what it costs one "
        "process alone");
  }
  if (!session.setup.device.note.empty()) warnings.push_back(session.setup.device.note);
  if (std::string missing = MissingEvaluation(session.setup.recipe); !missing.empty())
    warnings.push_back(std::move(missing));
  session.recorder->Started({.run = session.setup.run.paths().root.string(),
                             .device = session.setup.device.description,
                             .model = session.setup.recipe.model.name,
                             .parameters = CountParameters(session.learner->model()),
                             .first_step = session.progress.step,
                             .total_steps = session.plan().total_steps(),
                             .steps_per_epoch = session.plan().steps_per_epoch(),
                             .noun = session.plan().noun,
                             .initial_weights = session.initial_weights,
                             .choices = session.choices,
                             .tuning = std::move(tuning),
                             .warnings = std::move(warnings),
                             .pipeline = [&session] { return session.batches->GetProfile(); }});
}

Status OpenTensorboard(TrainingSession& session) {
  if (!session.setup.recipe.train.tensorboard.enabled) return OkStatus();
  const auto done = session.setup.resume ? std::optional(session.progress.step) : std::nullopt;
  const PlannedTargets& targets = session.plan().targets;
  const bool has_accuracy = session.setup.recipe.train.targets.empty() &&
                            (targets.kinds.empty() || targets.have_accuracy());
  STOKER_RETURN_IF_ERROR(
      session.recorder->OpenTensorboard(session.setup.recipe.Filled(), done, has_accuracy));
  session.callbacks.Add("tensorboard", TensorboardTensors(session.setup.recipe.train.tensorboard,
                                                          *session.recorder->tensorboard()));
  return OkStatus();
}

Status BuildAll(TrainingSession& session) {
  session.cpus = std::make_unique<PipelineCpuScope>(FeedCpus(session));
  STOKER_RETURN_IF_ERROR(BuildLearner(session));
  RecordPasses(session);
  return OpenBatches(session);
}

// Alone, or as the rank that keeps the run.
Status Begin(TrainingSession& session) {
  if (!session.keeps_run()) return OkStatus();
  return session.setup.resume ? RestoreNewest(session) : BeginWithWeights(session);
}

// With the weights of the first step.
Status StartHogwild(TrainingSession& session) {
  if (session.options().hogwild == 1) return OkStatus();
  const Json random = SaveRandomState(session.setup.device.device);
  STOKER_ASSIGN_OR_RETURN(session.hogwild,
                          HogwildTeam::Create(session.setup.recipe, session.plan().input,
                                              PlacementOf(session), *session.learner));
  session.hogwild->NameRows(TrainRowNames(session));
  return RestoreRandomState(random, session.setup.device.device);
}

// What rank 0 begins with, all begin with.
Status BeginAlike(TrainingSession& session) {
  STOKER_RETURN_IF_ERROR(AgreeOn(session, Begin(session), "the first weights"));
  STOKER_RETURN_IF_ERROR(StartHogwild(session));
  return session.setup.group ? TakeStateOfFirst(session) : OkStatus();
}

Status Store(TrainingSession& session, const TuneReport& tuning) {
  if (!session.keeps_run()) return OkStatus();
  STOKER_RETURN_IF_ERROR(StoreDecisions(session, tuning));
  return OpenTensorboard(session);
}

// A program may add callbacks on one rank alone.
Status CompareCallbacks(TrainingSession& session) {
  if (!session.setup.group) return OkStatus();
  const Result<int64_t> any = GreatestOf(*session.setup.group, session.callbacks.empty() ? 0 : 1,
                                         "whether there are callbacks");
  session.any_callbacks = any.ok() && *any > 0;
  return NoteAgreed(session, any.status());
}

// All that lies before the first step, in its order.
Status GetReady(TrainingSession& session) {
  STOKER_ASSIGN_OR_RETURN(TuneReport tuning, Choose(session));
  STOKER_RETURN_IF_ERROR(AgreeOn(session, BuildAll(session), "the start"));
  if (session.setup.group) STOKER_RETURN_IF_ERROR(NoteAgreed(session, session.learner->Connect()));
  STOKER_RETURN_IF_ERROR(TryEvaluation(session));
  STOKER_RETURN_IF_ERROR(BuildCallbacks(session));
  STOKER_RETURN_IF_ERROR(CompareCallbacks(session));
  if (session.options().lint && !session.setup.resume && session.keeps_run()) Lint(session);
  session.setup.first_batch.reset();
  for (std::string& warning : SettingsWithoutEffect(session.setup.recipe, session.plan())) {
    session.setup.warnings.push_back(std::move(warning));
  }
  if (session.in_parts()) STOKER_RETURN_IF_ERROR(ProbeParts(session));
  STOKER_RETURN_IF_ERROR(BeginAlike(session));
  STOKER_RETURN_IF_ERROR(AgreeOn(session, Store(session, tuning), "the run directory"));
  TellStart(session, std::move(tuning));
  STOKER_RETURN_IF_ERROR(AgreeOn(
      session,
      CallEach(session, [](Callback& callback, RunView& view) { return callback.OnStart(view); }),
      "the first step"));
  return AgreeOnEnd(session);
}

Result<std::unique_ptr<TrainingSession>> Start(TrainingSetup setup, CallbackList callbacks,
                                               TrainObserver* observer,
                                               const std::atomic<bool>* stop) {
  const TraceSpan span("start of the run");
  const TrainRecipe& train = setup.recipe.train;
  STOKER_ASSIGN_OR_RETURN(EarlyStopping stopping,
                          EarlyStopping::Create(train.early_stopping, train.Figures()));
  auto session = std::make_unique<TrainingSession>(std::move(setup), std::move(callbacks), stop,
                                                   std::move(stopping));
  STOKER_ASSIGN_OR_RETURN(session->recorder, RunRecorder::Open(session->setup.run, observer));
  STOKER_ASSIGN_OR_RETURN(session->schedule,
                          BuildRunSchedule(session->setup.recipe.train, session->plan().schedule,
                                           session->plan().batch_size));
  STOKER_RETURN_IF_ERROR(GetReady(*session));
  return session;
}

}  // namespace

Result<std::unique_ptr<TrainingSession>> StartTraining(TrainingSetup setup, CallbackList callbacks,
                                                       TrainObserver* observer,
                                                       const std::atomic<bool>* stop) {
  const std::shared_ptr<HeldRun> held = setup.run.held();
  Result<std::unique_ptr<TrainingSession>> session =
      Start(std::move(setup), std::move(callbacks), observer, stop);
  // What was made for it would only be in the way of the corrected recipe.
  if (!session.ok()) held->Discard();
  return session;
}

}  // namespace stoker
