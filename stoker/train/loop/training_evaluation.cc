#include "stoker/train/loop/training_evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stoker/cluster/agreement.h"
#include "stoker/data/core/runtime.h"
#include "stoker/run/monitor.h"
#include "stoker/train/core/precision.h"
#include "stoker/train/evaluation/evaluator.h"
#include "stoker/train/evaluation/shared_evaluator.h"
#include "stoker/train/plan/feed.h"

namespace stoker {
namespace {

// Whether none before was as good, by accuracy, or where there is none by loss.
bool IsBest(const Progress& progress, const Evaluation& evaluation) {
  if (!progress.last_evaluation) return true;
  if (evaluation.accuracy) return evaluation.accuracy > progress.best_accuracy;
  return !progress.best_loss || evaluation.loss < *progress.best_loss;
}

// Whether this is the one whose checkpoint is kept beside the newest.
Status NoteBest(TrainingSession& session, const Evaluation& evaluation) {
  const CheckpointOptions& options = session.setup.recipe.train.checkpoint;
  if (options.best.empty()) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(
      const Monitor monitor,
      Monitor::Create(options.best, options.best_mode, session.setup.recipe.train.Figures()));
  Progress& progress = session.progress;
  const double value = monitor.ValueIn(evaluation);
  const double best = progress.best_value.value_or(std::numeric_limits<double>::quiet_NaN());
  if (!monitor.IsBetter(value, best)) return OkStatus();
  progress.best_value = value;
  progress.best_step = progress.step;
  return OkStatus();
}

// What later weights depend on.
void FollowEvaluation(TrainingSession& session, const Evaluation& evaluation) {
  Progress& progress = session.progress;
  session.schedule->Observe(evaluation);
  const int64_t epoch = session.plan().EpochOf(std::max<int64_t>(progress.step, 1));
  if (const auto reason = session.early_stopping.Observe(evaluation, epoch);
      reason && progress.ended.empty()) {
    progress.ended = "early stopping: " + *reason;
  }
}

}  // namespace

Result<Evaluation> EvaluateOn(TrainingSession& session, const Dataset& batches, LossLogging losses,
                              const std::atomic<bool>* stop) {
  Runtime runtime = FeedRuntime(session.options());
  runtime.stop = stop;
  Group* const group = session.setup.group.get();
  PassOptions pass{.losses = losses};
  if (group != nullptr) {
    pass.rank = group->membership().rank;
    pass.world = group->membership().world;
    if (!session.keeps_run()) pass.losses = LossLogging::kNone;  // one process writes a log
  }
  const RowNames names = NamesInSource(batches, /*seed=*/0, session.options().input, "data.eval");
  Result<std::unique_ptr<DevicePrefetcher>> ahead = DevicePrefetcher::Open(
      batches, runtime, pass, FeedOptions(session, batches, session.eval_normalize, names),
      BatchesAhead(session));
  const WeightAverage::Use average = session.learner->UseAverage();
  const PrecisionScope scope(session.choices.precision, session.setup.device.device.type());
  const Measures measures{session.learner->objective(), names};
  if (group == nullptr) {
    STOKER_RETURN_IF_ERROR(ahead.status());
    return Evaluate(session.learner->model(), measures, **ahead, stop);
  }
  STOKER_RETURN_IF_ERROR(AgreeOn(session, ahead.status(), "the start of an evaluation"));
  // Batch norm's running moments are those of each rank's rows.
  STOKER_RETURN_IF_ERROR(
      CopyFromRank(*group, 0, session.learner->model().buffers(), "the buffers of the model"));
  Result<Evaluation> evaluation =
      EvaluateTogether(session.learner->model(), measures, **ahead, *group, stop);
  static_cast<void>(NoteAgreed(session, evaluation.status()));
  return evaluation;
}

Status RecordEvaluation(TrainingSession& session, const Evaluation& evaluation) {
  const Progress& progress = session.progress;
  return session.recorder->Evaluated({.step = progress.step,
                                      .epoch = session.plan().EpochOf(progress.step),
                                      .evaluation = evaluation,
                                      .best = IsBest(progress, evaluation),
                                      .train_seconds = session.throughput().seconds});
}

Status NoteEvaluation(TrainingSession& session, const Evaluation& evaluation, bool planned) {
  Progress& progress = session.progress;
  progress.last_evaluation = evaluation;
  // Nothing is less than any number.
  progress.best_accuracy = std::max(progress.best_accuracy, evaluation.accuracy);
  progress.best_loss = std::min(progress.best_loss.value_or(evaluation.loss), evaluation.loss);
  progress.evaluated_step = progress.step;
  // A rollback goes back to the best checkpoint too.
  if (planned || session.options().on_nonfinite != "rollback") {
    STOKER_RETURN_IF_ERROR(NoteBest(session, evaluation));
  }
  if (planned) FollowEvaluation(session, evaluation);
  STOKER_RETURN_IF_ERROR(CallEach(session, [&](Callback& callback, RunView& view) {
    return callback.OnEvaluate(view, evaluation);
  }));
  return AgreeOnEnd(session);
}

}  // namespace stoker
