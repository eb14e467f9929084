#include "stoker/train/training_loop.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

#include "stoker/base/clock.h"
#include "stoker/base/worker_group.h"
#include "stoker/data/runtime.h"
#include "stoker/data/transforms/layout.h"
#include "stoker/train/initial_weights.h"
#include "stoker/train/model_lint.h"
#include "stoker/train/precision.h"
#include "stoker/train/random_state.h"
#include "stoker/train/run_schedule.h"
#include "stoker/train/weights_file.h"

namespace stoker {
namespace {

constexpr int kStateFormat = 1;

Result<Json> Member(const Json& state, const char* key) {
  const auto found = state.find(key);
  if (found == state.end()) return DataLoss("'{}' is missing in its state.json", key);
  return *found;
}

}  // namespace

TrainingLoop::TrainingLoop(Setup setup)
    : recipe_(std::move(setup.recipe)),
      plan_(std::move(setup.plan)),
      device_(std::move(setup.device)),
      run_(std::move(setup.run)),
      resume_(setup.resume),
      allow_changes_(setup.allow_changes),
      recipe_changed_(setup.recipe_changed),
      choose_again_(setup.choose_again),
      warnings_(std::move(setup.warnings)),
      checkpoints_(run_.paths().checkpoints(), recipe_.train.checkpoint.keep) {}

Result<TrainSummary> TrainingLoop::Run(TrainObserver* observer, const std::atomic<bool>* stop) {
  stop_ = stop;
  STOKER_RETURN_IF_ERROR(Start(observer));
  const Status status = RunSteps();
  if (!status.ok()) {
    recorder_->Ended("failed: " + status.ToString(), /*success=*/false);
    return status;
  }
  if (!interrupted_) return Finish();
  recorder_->Ended(fmt::format("interrupted after step {}", progress_.step));
  return Summary();
}

// ---------------------------------------------------------------- before the first step

Status TrainingLoop::Start(TrainObserver* observer) {
  STOKER_ASSIGN_OR_RETURN(recorder_, RunRecorder::Open(run_, observer));
  STOKER_ASSIGN_OR_RETURN(schedule_,
                          BuildRunSchedule(recipe_.train, plan_.schedule, plan_.batch_size));
  AllowTf32(recipe_.train.options.tf32);
  STOKER_ASSIGN_OR_RETURN(TuneReport tuning, Choose());
  STOKER_ASSIGN_OR_RETURN(learner_, Learner::Create(recipe_, plan_.input,
                                                    {.device = device_.device,
                                                     .memory_format = choices_.memory_format,
                                                     .precision = choices_.precision},
                                                    plan_.schedule));
  STOKER_RETURN_IF_ERROR(OpenFeeder());
  STOKER_RETURN_IF_ERROR(TryEvaluationData());
  if (recipe_.train.options.lint && !resume_) STOKER_RETURN_IF_ERROR(Lint());
  STOKER_RETURN_IF_ERROR(resume_ ? RestoreNewest() : InitializeWeights());
  STOKER_RETURN_IF_ERROR(StoreDecisions());
  if (recipe_.train.tensorboard.enabled) {
    const auto done = resume_ ? std::optional(progress_.step) : std::nullopt;
    STOKER_RETURN_IF_ERROR(recorder_->OpenTensorboard(recipe_.Filled(), done));
  }
  TellStart(std::move(tuning));
  return OkStatus();
}

// What it finds are warnings: they stop nobody.
Status TrainingLoop::Lint() {
  STOKER_ASSIGN_OR_RETURN(const std::vector<LintFinding> findings,
                          LintRecipe(recipe_, device_.device));
  for (const LintFinding& finding : findings) {
    if (!finding.hint) warnings_.push_back("lint: " + finding.ToText());
  }
  return OkStatus();
}

// Those of a checkpoint say all; only a run that begins needs the file.
Status TrainingLoop::InitializeWeights() {
  if (recipe_.train.init_from.weights.empty()) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(const InitReport report,
                          stoker::InitializeWeights(learner_->model(), recipe_.train.init_from));
  initial_weights_ = report.ToText();
  return OkStatus();
}

// A run that has chosen once keeps its choices: others could change its bits.
Result<TuneReport> TrainingLoop::Choose() {
  STOKER_ASSIGN_OR_RETURN(const std::optional<Choices> before, ReadRunChoices(run_.paths().root));
  if (before) {
    STOKER_ASSIGN_OR_RETURN(const bool keep, KeepChoices(*before));
    if (keep) {
      choices_ = *before;
      at::set_num_threads(choices_.threads);
      return TuneReport{.reason = "as chosen when the run began"};
    }
  }
  STOKER_ASSIGN_OR_RETURN(Tuned tuned, Tune(recipe_, device_.device));
  choices_ = tuned.choices;
  return std::move(tuned.report);
}

// False where they do not fit what the recipe says now, as after a kill between the storing of a
// new recipe and that of its choices.
Result<bool> TrainingLoop::KeepChoices(const Choices& before) const {
  const std::string device = device_.device.str();
  if (before.device != device && !allow_changes_) {
    return FailedPrecondition(
        "the run has computed on {} and would go on on {}, which gives other bits: go on where it "
        "began, start a new run, or allow changes (--allow-changes)",
        before.device, device);
  }
  const TrainOptions& options = recipe_.train.options;
  const bool fits =
      (!options.threads || *options.threads == before.threads) &&
      (options.memory_format == "auto" ||
       options.memory_format == MemoryFormatName(before.memory_format)) &&
      (options.precision == "auto" || options.precision == PrecisionName(before.precision));
  return fits && !choose_again_ && before.device == device;
}

// Only now: had the run not fitted the recipe, it would have kept its own. In this order, so that a
// run killed in between has no results of another recipe, and chooses again where it must.
Status TrainingLoop::StoreDecisions() {
  if (!Finished()) STOKER_RETURN_IF_ERROR(run_.RemoveResults());
  if (recipe_changed_) STOKER_RETURN_IF_ERROR(run_.WriteRecipe(recipe_.Filled()));
  return run_.WriteChoices(choices_);
}

// Its files are opened now: an error in them must not cost the first epoch.
Status TrainingLoop::TryEvaluationData() const {
  if (!recipe_.data.eval) return OkStatus();
  return recipe_.data.eval->Open(FeedRuntime()).status().While("opening data.eval");
}

Runtime TrainingLoop::FeedRuntime() const {
  if (recipe_.train.options.feed_threads) {
    return Runtime::Threaded(static_cast<int>(*recipe_.train.options.feed_threads));
  }
  const int cpus = AvailableCpus();
  return Runtime::Threaded(device_.is_cpu() ? std::max(1, cpus / 4) : cpus);
}

FeederOptions TrainingLoop::FeedOptions(const Dataset& batches) const {
  const TrainOptions& options = recipe_.train.options;
  return {.input = options.input,
          .target = options.target,
          .device = device_.device,
          .channels_last = HasChannelsLast(batches, options.input),
          .memory_format = ToTorch(choices_.memory_format)};
}

Status TrainingLoop::OpenFeeder() {
  const auto seed = static_cast<uint64_t>(recipe_.train.options.seed);
  STOKER_ASSIGN_OR_RETURN(auto batches, plan_.batches.Open(FeedRuntime(), {.seed = seed}));
  STOKER_ASSIGN_OR_RETURN(feeder_, Feeder::Create(std::move(batches), plan_.batches.spec(),
                                                  FeedOptions(plan_.batches)));
  return OkStatus();
}

Status TrainingLoop::RestoreNewest() {
  const Result<CheckpointStore::Newest> newest = checkpoints_.LoadNewest();
  if (newest.status().code() == StatusCode::kNotFound) {
    warnings_.push_back("the run has no checkpoint yet, so it begins at step 0");
    STOKER_RETURN_IF_ERROR(InitializeWeights());
    return recorder_->metrics().CutBack(0);
  }
  STOKER_RETURN_IF_ERROR(newest.status());
  warnings_.insert(warnings_.end(), newest->warnings.begin(), newest->warnings.end());
  return Restore(*newest).While("restoring " + checkpoints_.PathOf(newest->step));
}

Status TrainingLoop::Restore(const CheckpointStore::Newest& newest) {
  const Json& state = newest.checkpoint.state;
  STOKER_ASSIGN_OR_RETURN(const Json schedule, Member(state, "schedule"));
  if (!allow_changes_ && schedule.value("steps_per_epoch", Json()) != plan_.steps_per_epoch()) {
    return FailedPrecondition(
        "an epoch had {} steps when the run began and has {} now: the data has changed; start a "
        "new run, or allow changes (--allow-changes)",
        schedule.value("steps_per_epoch", Json()).dump(), plan_.steps_per_epoch());
  }
  if (const Json kept = schedule.value("state", Json()); !kept.is_null()) {
    STOKER_RETURN_IF_ERROR(schedule_->Restore(kept));
  }
  STOKER_ASSIGN_OR_RETURN(const Json progress, Member(state, "progress"));
  STOKER_ASSIGN_OR_RETURN(progress_, Progress::FromJson(progress));
  before_ = {progress_.train_seconds, progress_.train_samples};
  if (progress_.step > plan_.total_steps()) {
    return FailedPrecondition(
        "the run has done {} steps and the recipe ends after {}: give it more epochs or max_steps, "
        "or start a new run",
        progress_.step, plan_.total_steps());
  }
  STOKER_ASSIGN_OR_RETURN(const Json data, Member(state, "data"));
  STOKER_RETURN_IF_ERROR(feeder_->Restore(data));
  STOKER_ASSIGN_OR_RETURN(const Json loss, Member(state, "loss"));
  STOKER_RETURN_IF_ERROR(loss_log_.Restore(loss));
  STOKER_ASSIGN_OR_RETURN(const Json metrics_bytes, Member(state, "metrics_bytes"));
  if (!metrics_bytes.is_number_unsigned()) return DataLoss("'metrics_bytes' is no size");
  STOKER_RETURN_IF_ERROR(
      learner_->Restore(newest.checkpoint.tensors, checkpoints_.PathOf(newest.step)));
  STOKER_ASSIGN_OR_RETURN(const Json random, Member(state, "random"));
  STOKER_RETURN_IF_ERROR(RestoreRandomState(random, device_.device));
  // Last, when nothing can be refused any more.
  STOKER_RETURN_IF_ERROR(recorder_->metrics().CutBack(metrics_bytes.get<uint64_t>()));
  last_checkpoint_ = newest.step;
  return OkStatus();
}

void TrainingLoop::TellStart(TuneReport tuning) {
  if (!device_.note.empty()) warnings_.push_back(device_.note);
  if (!recipe_.data.eval) {
    warnings_.push_back(
        "the recipe has no data.eval, so nothing is evaluated, and `stoker predict` will not know "
        "how to prepare samples");
  }
  recorder_->Started({.run = run_.paths().root.string(),
                      .device = device_.description,
                      .model = recipe_.model.name,
                      .parameters = CountParameters(learner_->model()),
                      .first_step = progress_.step,
                      .total_steps = plan_.total_steps(),
                      .steps_per_epoch = plan_.steps_per_epoch(),
                      .initial_weights = initial_weights_,
                      .choices = choices_,
                      .tuning = std::move(tuning),
                      .warnings = warnings_});
}

// ----------------------------------------------------------------------------- the loop

bool TrainingLoop::AtEndOfEpoch() const {
  const int64_t step = progress_.step;
  return step > 0 && (step % plan_.steps_per_epoch() == 0 || step >= plan_.total_steps());
}

bool TrainingLoop::Finished() const {
  return progress_.step >= plan_.total_steps() && progress_.closed_step == progress_.step;
}

Status TrainingLoop::RunSteps() {
  const std::optional<int64_t>& every_steps = recipe_.train.checkpoint.every_steps;
  while (!Finished() && !interrupted_) {
    if (StopRequested()) {
      interrupted_ = true;
      STOKER_RETURN_IF_ERROR(WriteCheckpoint());
    } else if (AtEndOfEpoch() && progress_.closed_step != progress_.step) {
      STOKER_RETURN_IF_ERROR(CloseEpoch());
    } else {
      STOKER_RETURN_IF_ERROR(TrainStep());
      const bool due = every_steps && progress_.step % *every_steps == 0;
      // The end of an epoch brings its own.
      if (due && !AtEndOfEpoch()) STOKER_RETURN_IF_ERROR(WriteCheckpoint());
    }
  }
  return OkStatus();
}

// All batches of a step go forward and back one by one, so that they need the memory of one.
Result<int64_t> TrainingLoop::BackwardBatches() {
  const int64_t batches = plan_.BatchesOf(progress_.step);
  int64_t samples = 0;
  for (int64_t i = 0; i < batches; ++i) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<TensorBatch> batch, feeder_->Next());
    if (!batch) {
      return DataLoss(
          "data.train ended after {} of {} steps; its source gives less than it announced",
          progress_.step, plan_.total_steps());
    }
    STOKER_RETURN_IF_ERROR(
        learner_->Backward(*batch, batches).While(fmt::format("in step {}", progress_.step + 1)));
    samples += batch->size();
  }
  return samples;
}

Status TrainingLoop::TrainStep() {
  const Stopwatch watch;
  const ScheduleValue now = schedule_->At(progress_.step);
  STOKER_ASSIGN_OR_RETURN(const int64_t samples, BackwardBatches());
  const Result<at::Tensor> loss = learner_->Update(now, progress_.step + 1);
  if (!loss.ok()) return loss.status().While(fmt::format("in step {}", progress_.step + 1));
  ++progress_.step;
  STOKER_RETURN_IF_ERROR(Broken(loss_log_.Add(progress_.step, *loss)));
  const bool log = progress_.step % recipe_.train.options.log_every == 0;
  if (log) STOKER_RETURN_IF_ERROR(Broken(loss_log_.Flush()));
  total_.seconds += watch.ElapsedSeconds();
  total_.samples += samples;
  TellStep(samples, now);
  return log ? LogLine(now) : OkStatus();
}

void TrainingLoop::TellStep(int64_t samples, const ScheduleValue& now) {
  recorder_->Stepped({.step = progress_.step,
                      .samples = samples,
                      .loss = loss_log_.last(),
                      .lr = now.lr,
                      .train_seconds = total_.seconds,
                      .waited_seconds = feeder_->waited_seconds(),
                      .train_samples = total_.samples});
}

Status TrainingLoop::LogLine(const ScheduleValue& now) {
  const Throughput window = total_.Since(at_last_line_);
  const double waited = feeder_->waited_seconds() - waited_at_last_line_;
  at_last_line_ = total_;
  waited_at_last_line_ = feeder_->waited_seconds();
  return recorder_->Logged(
      {.step = progress_.step,
       .epoch = static_cast<double>(progress_.step) / static_cast<double>(plan_.steps_per_epoch()),
       .loss = loss_log_.TakeMean(),
       .schedule = now,
       .images_per_s = window.per_second(),
       .waited = window.seconds > 0 ? waited / window.seconds : 0,
       .train_seconds = before_.With(total_).seconds,
       .scaling = Scaling()});
}

std::optional<LossScaling> TrainingLoop::Scaling() const {
  const GradScaler* const scaler = learner_->scaler();
  if (scaler == nullptr) return std::nullopt;
  return LossScaling{.scale = scaler->scale(), .skipped = scaler->skipped()};
}

// Says where it happened and what is left.
Status TrainingLoop::Broken(const Status& status) const {
  if (status.ok()) return status;
  const std::string left =
      last_checkpoint_ < 0
          ? "there is no checkpoint yet"
          : fmt::format("the last good checkpoint is {}", checkpoints_.PathOf(last_checkpoint_));
  return {status.code(),
          fmt::format(
              "epoch {} of {}, {}. Training has stopped; {}. A lower learning rate (now {:.3g}) "
              "or cleaner data may help",
              plan_.EpochOf(progress_.step), plan_.EpochOf(plan_.total_steps()), status.message(),
              left, schedule_->At(progress_.step - 1).lr)};
}

Status TrainingLoop::CloseEpoch() {
  const int64_t epoch = plan_.EpochOf(progress_.step);
  const bool last = progress_.step == plan_.total_steps();
  if (recipe_.data.eval && (last || epoch % recipe_.train.options.eval_every == 0)) {
    const Status status = Evaluate();
    // Stopped in the middle: the loop writes a checkpoint, and the resumed run evaluates again.
    if (status.code() == StatusCode::kCancelled) return OkStatus();
    STOKER_RETURN_IF_ERROR(status);
  }
  progress_.closed_step = progress_.step;
  const Throughput window = total_.Since(at_last_epoch_);
  at_last_epoch_ = total_;
  recorder_->EpochEnded({.epoch = epoch,
                         .step = progress_.step,
                         .seconds = window.seconds,
                         .images_per_s = window.per_second()});
  return WriteCheckpoint();
}

Status TrainingLoop::Evaluate() {
  STOKER_ASSIGN_OR_RETURN(auto batches, recipe_.data.eval->Open(FeedRuntime()));
  STOKER_ASSIGN_OR_RETURN(const auto feeder,
                          Feeder::Create(std::move(batches), recipe_.data.eval->spec(),
                                         FeedOptions(*recipe_.data.eval)));
  const WeightAverage::Use average = learner_->UseAverage();
  const PrecisionScope scope(choices_.precision, device_.device.type());
  STOKER_ASSIGN_OR_RETURN(
      const Evaluation evaluation,
      stoker::Evaluate(learner_->model(), {learner_->loss(), recipe_.train.options.metrics},
                       *feeder, stop_));
  if (!std::isfinite(evaluation.loss)) {
    return Broken(FailedPrecondition("step {}: the loss on data.eval is {}", progress_.step,
                                     evaluation.loss));
  }
  const bool best = !progress_.last_evaluation || evaluation.accuracy > progress_.best_accuracy;
  progress_.last_evaluation = evaluation;
  progress_.best_accuracy = std::max(progress_.best_accuracy, evaluation.accuracy);
  schedule_->Observe(evaluation);
  return recorder_->Evaluated({.step = progress_.step,
                               .epoch = plan_.EpochOf(progress_.step),
                               .evaluation = evaluation,
                               .best = best,
                               .train_seconds = before_.With(total_).seconds});
}

// ---------------------------------------------------------------------- what is written

Result<Json> TrainingLoop::State() const {
  STOKER_ASSIGN_OR_RETURN(Json data, feeder_->Save());
  STOKER_ASSIGN_OR_RETURN(const uint64_t metrics_bytes, recorder_->metrics().Sync());
  const ScheduleValue next = schedule_->At(progress_.step);
  Progress progress = progress_;
  progress.train_seconds = before_.With(total_).seconds;
  progress.train_samples = before_.With(total_).samples;
  return Json{{"format", kStateFormat},
              {"epoch", plan_.EpochOf(progress_.step)},
              {"sample", plan_.input.ToString()},
              {"progress", progress.ToJson()},
              {"schedule",
               {{"total_steps", plan_.total_steps()},
                {"steps_per_epoch", plan_.steps_per_epoch()},
                {"next_lr", next.lr},
                {"state", schedule_->Save()}}},
              {"random", SaveRandomState(device_.device)},
              {"data", std::move(data)},
              {"loss", loss_log_.Save()},
              {"metrics_bytes", metrics_bytes}};
}

Status TrainingLoop::WriteCheckpoint() {
  if (last_checkpoint_ == progress_.step) return OkStatus();
  const Stopwatch watch;
  // On an accelerator losses may be waiting: weights that are broken must not be kept.
  STOKER_RETURN_IF_ERROR(Broken(loss_log_.Flush()));
  if (const Status finite = learner_->CheckFinite(); !finite.ok()) {
    return Broken({finite.code(), fmt::format("step {}: {}", progress_.step, finite.message())});
  }
  STOKER_ASSIGN_OR_RETURN(const Json state, State());
  STOKER_ASSIGN_OR_RETURN(const std::vector<NamedArray> tensors, learner_->Save());
  STOKER_RETURN_IF_ERROR(
      checkpoints_.Write(progress_.step, tensors, state)
          .While(fmt::format("writing the checkpoint of step {} (those before it are untouched)",
                             progress_.step)));
  last_checkpoint_ = progress_.step;
  recorder_->Checkpointed({.step = progress_.step,
                           .path = checkpoints_.PathOf(progress_.step),
                           .seconds = watch.ElapsedSeconds()});
  return OkStatus();
}

TrainSummary TrainingLoop::Summary() const {
  return {.interrupted = interrupted_,
          .step = progress_.step,
          .total_steps = plan_.total_steps(),
          .last_evaluation = progress_.last_evaluation,
          .best_accuracy = progress_.best_accuracy,
          .images_per_s = before_.With(total_).per_second(),
          .train_seconds = before_.With(total_).seconds,
          .run = run_.paths().root.string()};
}

Result<TrainSummary> TrainingLoop::Finish() {
  const WeightAverage::Use average = learner_->UseAverage();
  STOKER_ASSIGN_OR_RETURN(std::vector<NamedArray> arrays,
                          ToNamedArrays(StateOf(learner_->model())));
  STOKER_RETURN_IF_ERROR(WriteWeights(
      run_.paths().weights(), {.arrays = std::move(arrays), .sample = plan_.input.ToString()}));
  const TrainSummary summary = Summary();
  STOKER_RETURN_IF_ERROR(run_.WriteSummary(summary.ToJson()));
  recorder_->Ended(
      fmt::format("finished: {} steps, {:.0f} images/s", summary.step, summary.images_per_s),
      /*success=*/true);
  return summary;
}

}  // namespace stoker
