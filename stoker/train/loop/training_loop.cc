#include "stoker/train/loop/training_loop.h"

#include <cmath>

#include "stoker/base/trace.h"
#include "stoker/data/recipe/recipe_place.h"
#include "stoker/device/torch_denormals.h"
#include "stoker/run/recipe_place.h"
#include "stoker/run/run_environment.h"
#include "stoker/train/loop/training_evaluation.h"
#include "stoker/train/loop/training_profile.h"
#include "stoker/train/loop/training_start.h"
#include "stoker/train/step/learner_weights.h"

namespace stoker {

void TrainingLoop::Discard() const {
  if (const std::shared_ptr<HeldRun> held = held_.lock()) held->Discard();
}

Result<TrainSummary> TrainingLoop::Run(TrainObserver* observer, const std::atomic<bool>* stop) {
  const TorchFloatModes modes;
  const ConfigNode recipe = PlacesOf(setup_.recipe);  // for messages; the setup moves on
  Result<std::unique_ptr<TrainingSession>> session =
      StartTraining(std::move(setup_), std::move(callbacks_), observer, stop);
  if (!session.ok()) return WithPlace(recipe, session.status());
  session_ = *std::move(session);
  // Ends with this call, although the session stays.
  const std::unique_ptr<PipelineCpuScope> cpus = std::move(session_->cpus);
  session_->status = PublishStatus();
  steps_ = std::make_unique<StepRunner>(*session_);
  clock_ = std::make_unique<CheckpointClock>(session_->setup.recipe.train.checkpoint);
  Status status = RunSteps();
  // What has been begun is stored, whatever ended the run.
  const Status stored = FinishCheckpoint(*session_);
  if (status.ok()) status = stored;
  if (session_->setup.group) status = EndTogether(status);
  session_->status->Ends(session_->beside);
  WriteTrainingProfile(*session_);
  if (!status.ok()) {
    session_->recorder->Ended("failed: " + status.ToString(), /*success=*/false);
    return status;
  }
  STOKER_RETURN_IF_ERROR(
      CallEach(*session_, [](Callback& callback, RunView& view) { return callback.OnEnd(view); }));
  if (!interrupted_) return Finish();
  session_->recorder->Ended(fmt::format("interrupted after step {}", session_->progress.step));
  return Summary();
}

std::unique_ptr<RunStatus> TrainingLoop::PublishStatus() const {
  return std::make_unique<RunStatus>(
      RunStatus::Of{.path = session_->keeps_run() ? ProgressPath(session_->setup.run.paths().root)
                                                  : std::string(),
                    .first_step = session_->progress.step,
                    .total_steps = session_->plan().total_steps(),
                    .steps_per_epoch = session_->plan().steps_per_epoch(),
                    .noun = session_->plan().noun,
                    .seconds_before = session_->before.seconds,
                    .device = session_->setup.device.description,
                    .accelerator = !session_->setup.device.device.is_cpu(),
                    .compute_threads = session_->choices.threads,
                    .works = session_->batches->works(),
                    .find_limit = [this] { return session_->batches->FindLimit(); },
                    .get_profile = [this] { return session_->batches->GetProfile(); }});
}

// Ranks end together: each waits until rank 0 has stored what there is to store. An error that this
// rank alone knows of finds the others anywhere, so it does not come to meet them: it leaves, which
// ends what they wait for, with its error.
Status TrainingLoop::EndTogether(const Status& mine) {
  Group& group = *session_->setup.group;
  if (!mine.ok() && !session_->all_know) {
    group.Leave(mine);
    return mine;
  }
  if (session_->group_lost) return mine;
  const Status met = NoteAgreed(*session_, group.Barrier("the end of the run"));
  return mine.ok() ? met : mine;
}

// By the plan alone, even if something ended the run before its last step.
bool TrainingLoop::AtPlannedEndOfEpoch() const {
  const int64_t step = session_->progress.step;
  const TrainingPlan& plan = session_->plan();
  return step > 0 && (step % plan.steps_per_epoch() == 0 || step >= plan.total_steps());
}

bool TrainingLoop::AtEndOfEpoch() const {
  return AtPlannedEndOfEpoch() || (session_->progress.step > 0 && session_->at_end());
}

bool TrainingLoop::Finished() const {
  return session_->at_end() && session_->progress.closed_step == session_->progress.step;
}

// Whether a run that nothing ends before its last step evaluates here too.
bool TrainingLoop::EvaluationPlanned() const {
  const int64_t step = session_->progress.step;
  const TrainOptions& options = session_->options();
  if (step >= session_->plan().total_steps()) return true;
  if (options.eval_every_steps) return step % *options.eval_every_steps == 0;
  return AtPlannedEndOfEpoch() && session_->plan().EpochOf(step) % options.eval_every == 0;
}

bool TrainingLoop::EvaluationDue() const {
  const Progress& progress = session_->progress;
  if (!session_->eval || progress.step == 0 || progress.evaluated_step == progress.step ||
      progress.closed_step == progress.step) {
    return false;
  }
  return session_->at_end() || EvaluationPlanned();
}

// The same of checkpoints, at the end of an epoch or of the run.
bool TrainingLoop::CheckpointPlanned() const {
  const Progress& progress = session_->progress;
  const bool best = progress.best_step == progress.step && EvaluationPlanned();
  return AtPlannedEndOfEpoch() || best || clock_->DueByStep(progress.step);
}

Status TrainingLoop::RunSteps() {
  // What a first step that breaks would go back to.
  if (session_->options().on_nonfinite == "rollback" && session_->progress.step == 0) {
    STOKER_RETURN_IF_ERROR(Checkpoint(CheckpointKind::kPlanned));
  }
  STOKER_RETURN_IF_ERROR(steps_->LogMissed());
  while (!Finished() && !interrupted_) {
    STOKER_RETURN_IF_ERROR(NoteCheckpoint(*session_));
    if (session_->stop_requested()) {
      interrupted_ = true;
      STOKER_RETURN_IF_ERROR(Checkpoint(CheckpointKind::kUnplanned));
    } else {
      STOKER_RETURN_IF_ERROR(DoWhatIsDue());
    }
  }
  return OkStatus();
}

Status TrainingLoop::DoWhatIsDue() {
  if (EvaluationDue()) return EvaluateNow();
  if (AtEndOfEpoch() && session_->progress.closed_step != session_->progress.step) {
    return CloseEpoch();
  }
  if (const Status status = steps_->Step(); !status.ok()) return AfterFailedStep(status);
  return AtEndOfEpoch() ? OkStatus() : CheckpointBetweenEpochs();
}

Status TrainingLoop::EvaluateNow() {
  const TraceSpan span("evaluation");
  const int64_t step = session_->progress.step;
  const ScheduleValue last = session_->schedule->At(step - 1);
  STOKER_RETURN_IF_ERROR(steps_->AverageRanks());
  session_->status->Begins(RunActivity::kEvaluation);
  Does(*session_, "evaluating after step", step);
  const Stopwatch watch;
  const Result<Evaluation> evaluation =
      EvaluateOn(*session_, *session_->eval, LossLogging::kOnce, session_->stop);
  session_->beside.evaluation_seconds += watch.ElapsedSeconds();
  ++session_->beside.evaluations;
  // The resumed run evaluates again.
  if (!evaluation.ok()) return StoreAndPass(evaluation.status());
  if (!std::isfinite(evaluation->loss)) {
    return StopBroken(
        FailedPrecondition("step {}: the loss on data.eval is {}", step, evaluation->loss), 0);
  }
  if (const Status status = AgreeOn(*session_, RecordEvaluation(*session_, *evaluation),
                                    "the record of an evaluation");
      !status.ok())
    return StoreAndPass(status);  // the resumed run evaluates again
  STOKER_RETURN_IF_ERROR(NoteEvaluation(*session_, *evaluation, EvaluationPlanned()));
  // It may have ended the run.
  if (const Status status = steps_->LogRest(last); !status.ok()) return AfterFailedStep(status);
  // The end of an epoch brings its own.
  const bool best = session_->progress.best_step == step;
  return best && !AtEndOfEpoch() ? Checkpoint(CheckpointKind::kPlanned) : OkStatus();
}

Status TrainingLoop::AfterFailedStep(const Status& status) {
  switch (steps_->failure()) {
    case StepRunner::Failure::kUndone:
    case StepRunner::Failure::kAfter: return StoreAndPass(status);
    case StepRunner::Failure::kBroken: return StopBroken(status, 1);
    case StepRunner::Failure::kNone:
    case StepRunner::Failure::kLost: break;
  }
  return status;
}

// Stores the weights from before the step whose loss was not finite, if they are finite. The
// checkpoint before them stays too, because the trouble may have begun earlier.
Status TrainingLoop::StopBroken(const Status& status, int64_t ahead) {
  STOKER_RETURN_IF_ERROR(steps_->AverageRanks());  // all find alike whether they are finite
  Status stored;
  if (session_->progress.step > 0 && session_->learner->CheckFinite().ok()) {
    session_->kept_beside = session_->last_checkpoint;
    stored = Checkpoint(CheckpointKind::kUnplanned);
  }
  const Status broken = BrokenForAll(*session_, status, ahead);
  if (stored.ok()) return broken;
  return {broken.code(), fmt::format("{} ({})", broken.message(), stored.message())};
}

// Stores the state after the last whole step and returns `status` with its place. If the run was
// asked to stop there is no error: RunSteps stores the step.
Status TrainingLoop::StoreAndPass(const Status& status) {
  if (status.code() == StatusCode::kCancelled && session_->stop_requested()) return OkStatus();
  // Where it is made of what all ranks hold, all of them must know, and be there.
  const bool of_all = session_->stores_together();
  const bool together = session_->all_know && !session_->group_lost;
  if (session_->progress.step == 0 || (of_all ? !together : !session_->keeps_run())) return status;
  Status stored = Checkpoint(CheckpointKind::kUnplanned);
  if (!session_->keeps_run()) return status;
  if (stored.ok()) stored = FinishCheckpoint(*session_);
  if (!stored.ok()) {
    return {status.code(),
            fmt::format("{}. Nor could the {} steps done be stored: {}", status.message(),
                        session_->progress.step, stored.message())};
  }
  // Resuming refuses data that have changed, and correcting them changes them.
  return {status.code(),
          fmt::format("{}. The {} steps done are stored in {}; --resume goes on from there, and "
                      "where a data file was changed meanwhile --resume --allow-changes",
                      status.message(), session_->progress.step,
                      session_->store.PathOf(session_->progress.step))};
}

Status TrainingLoop::CheckpointBetweenEpochs() {
  if (clock_->DueByStep(session_->progress.step)) return Checkpoint(CheckpointKind::kPlanned);
  return clock_->DueByTime() ? Checkpoint(CheckpointKind::kUnplanned) : OkStatus();
}

Status TrainingLoop::Checkpoint(CheckpointKind kind) {
  const int64_t step = session_->progress.step;
  const bool has_one = session_->last_checkpoint == step ||
                       (session_->under_way && session_->under_way->step == step);
  if (!has_one) session_->status->Begins(RunActivity::kCheckpoint);
  if (!has_one && (session_->keeps_run() || session_->in_parts()))
    Does(*session_, "writing the checkpoint of step", step);
  const Stopwatch watch;
  const TraceSpan span("checkpoint");
  STOKER_RETURN_IF_ERROR(WriteCheckpoint(*session_, kind));
  if (!has_one) {
    session_->beside.checkpoint_seconds += watch.ElapsedSeconds();
    ++session_->beside.checkpoints;
  }
  clock_->Written();
  return OkStatus();
}

Status TrainingLoop::CloseEpoch() {
  const TraceSpan span("end of an epoch");
  Progress& progress = session_->progress;
  progress.closed_step = progress.step;
  const Throughput window = steps_->TakeEpoch();
  session_->recorder->EpochEnded({.epoch = session_->plan().EpochOf(progress.step),
                                  .step = progress.step,
                                  .seconds = window.seconds,
                                  .images_per_s = window.per_second()});
  return Checkpoint(CheckpointPlanned() ? CheckpointKind::kPlanned : CheckpointKind::kUnplanned);
}

TrainSummary TrainingLoop::Summary() const {
  const Progress& progress = session_->progress;
  return {.interrupted = interrupted_,
          .step = progress.step,
          .total_steps = session_->plan().total_steps(),
          .last_evaluation = progress.last_evaluation,
          .best_accuracy = progress.best_accuracy,
          .best_loss = progress.best_loss,
          .noun = session_->plan().noun,
          .images_per_s = session_->throughput().per_second(),
          .train_seconds = session_->throughput().seconds,
          .run = session_->setup.run.paths().root.string(),
          .ended = progress.ended,
          .best_step = progress.best_step,
          .skipped = progress.skipped,
          .rollbacks = progress.rollbacks,
          .waited = session_->status->waited(),
          .starved = session_->status->Overall(),
          .ranks = PaceOf(session_->rank_times)};
}

Status TrainingLoop::WriteResults() {
  RunDirectory& run = session_->setup.run;
  STOKER_RETURN_IF_ERROR(run.held()->CheckPlace());
  STOKER_RETURN_IF_ERROR(
      WriteWeightsOf(*session_->learner, run.paths().weights(), session_->view->origin));
  Json json = Summary().ToJson();
  json["peak_rss_bytes"] = PeakResidentBytes();
  return run.WriteSummary(json);
}

Result<TrainSummary> TrainingLoop::Finish() {
  const TraceSpan span("write the results");
  Does(*session_, "writing the results of step", session_->progress.step);
  STOKER_RETURN_IF_ERROR(AgreeOn(*session_, session_->keeps_run() ? WriteResults() : OkStatus(),
                                 "writing the results"));
  const TrainSummary summary = Summary();
  session_->recorder->Ended(
      fmt::format("finished: {} steps, {:.0f} {}s/s{}{}", summary.step, summary.images_per_s,
                  summary.noun, summary.ended.empty() ? "" : "; ", summary.ended),
      /*success=*/true);
  return summary;
}

}  // namespace stoker
