#include "stoker/train/loop/training_checkpoints.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "stoker/base/log.h"
#include "stoker/base/permutation.h"
#include "stoker/base/stop_scope.h"
#include "stoker/base/trace.h"
#include "stoker/cluster/agreement.h"
#include "stoker/data/core/drawn_order.h"
#include "stoker/run/allowed_changes.h"
#include "stoker/run/retried_write.h"
#include "stoker/train/loop/checkpoint_parts.h"
#include "stoker/train/plan/initial_vectors.h"
#include "stoker/train/step/random_state.h"

namespace stoker {
namespace {

constexpr int kStateFormat = 1;
// The version of the orders that shuffles give (IndexPermutation::kVersion). Checkpoints from
// before it was written have version 1.
constexpr char kOrders[] = "orders";

Result<Json> Member(const Json& state, const char* key) {
  const auto found = state.find(key);
  if (found == state.end()) return DataLoss("'{}' is missing in its state.json", key);
  return *found;
}

Result<Json> SessionState(const TrainingSession& session) {
  STOKER_ASSIGN_OR_RETURN(Json data, session.batches->Save());
  STOKER_ASSIGN_OR_RETURN(Json callbacks, session.callbacks.Save());
  STOKER_ASSIGN_OR_RETURN(const uint64_t metrics_bytes, session.recorder->metrics().Size());
  Progress progress = session.progress;
  progress.train_seconds = session.throughput().seconds;
  progress.train_samples = session.throughput().samples;
  const TrainingPlan& plan = session.plan();
  return Json{{"format", kStateFormat},
              {kOrders, IndexPermutation::kVersion},
              {"epoch", plan.EpochOf(progress.step)},
              {"sample", session.view->origin.sample},
              {"target", session.view->origin.target},
              {"learned", session.view->origin.learned},
              {"progress", progress.ToJson()},
              {"schedule",
               {{"total_steps", plan.total_steps()},
                {"steps_per_epoch", plan.steps_per_epoch()},
                {"next_lr", session.schedule->At(progress.step).lr},
                {"state", session.schedule->Save()}}},
              {"early_stopping", session.early_stopping.Save()},
              {"callbacks", std::move(callbacks)},
              {"random", SaveRandomState(session.setup.device.device)},
              {"data", std::move(data)},
              {"loss", session.loss_log.Save()},
              {"metrics_bytes", metrics_bytes}};
}

Status CheckOrders(const TrainingSession& session, const Json& state) {
  const bool same = state.value(kOrders, 1) == IndexPermutation::kVersion;
  if (same || session.setup.allow_changes || !DrawsOrder(session.plan().batches.dataset)) {
    return OkStatus();
  }
  return FailedPrecondition(
      "the run was begun by a version of Stoker that shuffles in other orders, so some samples of "
      "this epoch would come twice and others not at all: finish it with that version, start a new "
      "run, or allow changes (--allow-changes)");
}

// A run counts steps, not samples, so with another batch size it is elsewhere in the epochs.
void WarnOfOtherSteps(TrainingSession& session, const Json& state, int64_t before) {
  const int64_t step = state.value("progress", Json::object()).value("step", int64_t{0});
  const int64_t now = session.plan().steps_per_epoch();
  const auto epochs = [step](int64_t steps) {
    return static_cast<double>(step) / static_cast<double>(steps);
  };
  session.setup.warnings.push_back(fmt::format(
      "an epoch has {} steps now and had {}: the run counts steps, so after step {} it stood at "
      "{:.2f} epochs and now stands at {:.2f} of {:.2f}; samples of the epoch under way may come "
      "twice or not at all",
      now, before, step, epochs(before), epochs(now),
      static_cast<double>(session.plan().total_steps()) / static_cast<double>(now)));
}

Status RestoreSchedule(TrainingSession& session, const Json& state) {
  STOKER_ASSIGN_OR_RETURN(const Json schedule, Member(state, "schedule"));
  const int64_t steps = session.plan().steps_per_epoch();
  const Json before = schedule.value("steps_per_epoch", Json());
  if (!before.is_number_integer() || before.get<int64_t>() < 1)
    return DataLoss("'steps_per_epoch' is missing");
  if (before != steps && !session.setup.allow_changes && !session.setup.before_change) {
    return FailedPrecondition(
        "an epoch had {} steps when this checkpoint was stored and has {} now, so the data or the "
        "recipe was changed since: undo the change, start a new run, or allow changes "
        "(--allow-changes)",
        before.dump(), steps);
  }
  if (before != steps) WarnOfOtherSteps(session, state, before.get<int64_t>());
  const Json kept = schedule.value("state", Json());
  return kept.is_null() ? OkStatus() : session.schedule->Restore(kept);
}

Status RestoreProgress(TrainingSession& session, const Json& state) {
  STOKER_ASSIGN_OR_RETURN(const Json progress, Member(state, "progress"));
  STOKER_ASSIGN_OR_RETURN(session.progress, Progress::FromJson(progress));
  session.before = {session.progress.train_seconds, session.progress.train_samples};
  // What ended it may be what was changed.
  const bool allowed = session.setup.allow_changes || session.setup.before_change;
  if (session.setup.recipe_changed && allowed) session.progress.ended.clear();
  if (session.progress.step <= session.plan().total_steps()) return OkStatus();
  return FailedPrecondition(
      "the run has done {} steps and the recipe ends after {}: give it more epochs or max_steps, "
      "or start a new run",
      session.progress.step, session.plan().total_steps());
}

// Checks that the checkpoint of the last rollback target exists. Only runs with `rollback` keep it,
// so it may be gone after a change of on_nonfinite: then the target is the checkpoint resumed from.
Status CheckRollbackTarget(TrainingSession& session, int64_t newest) {
  Progress& progress = session.progress;
  if (session.options().on_nonfinite != "rollback" || progress.planned_checkpoint == newest) {
    return OkStatus();
  }
  const Status there = progress.planned_checkpoint < 0
                           ? DataLoss("the run has none that its plan asked for")
                           : session.store.Load(progress.planned_checkpoint).status();
  if (there.ok()) return OkStatus();
  if (there.code() != StatusCode::kDataLoss) return there;
  session.setup.warnings.push_back(fmt::format(
      "on_nonfinite: rollback goes back to the weights of step {} until the next planned "
      "checkpoint: {}",
      newest, there.message()));
  progress.planned_checkpoint = newest;
  return OkStatus();
}

// The metrics are flushed before a checkpoint is written, so a file that is shorter than the
// checkpoint says, or has other lines, was changed from outside.
Status CutMetrics(TrainingSession& session, uint64_t bytes) {
  MetricsFile& metrics = session.recorder->metrics();
  const Status whole = metrics.CheckLinesUpTo(bytes);
  if (whole.ok()) return metrics.CutBack(bytes);
  if (whole.code() != StatusCode::kDataLoss) return whole;
  if (!session.setup.allow_changes) {
    return FailedPrecondition(
        "{}. Put the file back, or go on without these lines (--allow-changes)", whole.message());
  }
  session.setup.warnings.push_back(whole.message());
  STOKER_ASSIGN_OR_RETURN(const uint64_t there, metrics.Size());
  return metrics.CutBack(std::min(there, bytes));
}

// All of a checkpoint's state that has no tensors and is no file's.
Status RestoreState(TrainingSession& session, const Json& state) {
  STOKER_RETURN_IF_ERROR(CheckOrders(session, state));
  STOKER_RETURN_IF_ERROR(RestoreSchedule(session, state));
  STOKER_RETURN_IF_ERROR(RestoreProgress(session, state));
  STOKER_ASSIGN_OR_RETURN(Json data, Member(state, "data"));
  // CheckOrders has decided; positions of older checkpoints do not say it themselves.
  if (data.is_object()) TakeForTheseOrders(data);
  STOKER_RETURN_IF_ERROR(session.batches->Restore(data));
  STOKER_ASSIGN_OR_RETURN(const Json loss, Member(state, "loss"));
  STOKER_RETURN_IF_ERROR(session.loss_log.Restore(loss));
  STOKER_RETURN_IF_ERROR(session.early_stopping.Restore(state.value("early_stopping", Json())));
  STOKER_RETURN_IF_ERROR(session.callbacks.Restore(state.value("callbacks", Json())));
  STOKER_ASSIGN_OR_RETURN(const Json random, Member(state, "random"));
  return RestoreRandomState(random, session.setup.device.device);
}

Status Restore(TrainingSession& session, const CheckpointStore::Newest& newest) {
  const Json& state = newest.checkpoint.state;
  STOKER_RETURN_IF_ERROR(RestoreState(session, state));
  STOKER_ASSIGN_OR_RETURN(const Json metrics_bytes, Member(state, "metrics_bytes"));
  if (!metrics_bytes.is_number_unsigned()) return DataLoss("'metrics_bytes' is no size");
  STOKER_RETURN_IF_ERROR(
      session.learner->Restore(newest.checkpoint.tensors, session.store.PathOf(newest.step)));
  STOKER_RETURN_IF_ERROR(CheckRollbackTarget(session, newest.step));
  // Last, when nothing can be refused any more.
  STOKER_RETURN_IF_ERROR(CutMetrics(session, metrics_bytes.get<uint64_t>()));
  session.last_checkpoint = newest.step;
  session.view->checkpoint = newest.step;
  if (!session.setup.group) return OkStatus();
  session.restored_state = state;
  session.restored_state["progress"] = session.progress.ToJson();  // as it goes on
  return OkStatus();
}

// On an accelerator losses may be waiting: weights that are broken must not be kept.
Status CheckFinite(TrainingSession& session) {
  STOKER_RETURN_IF_ERROR(Broken(session, session.loss_log.Flush()));
  const Status finite = session.learner->CheckFinite();
  if (finite.ok()) return finite;
  return Broken(session, {finite.code(),
                          fmt::format("step {}: {}", session.progress.step, finite.message())});
}

// Whether weights_copy has them, from which they can be written while training goes on.
Result<bool> CopyWeights(TrainingSession& session, const NamedTensors& tensors) {
  if (!session.setup.recipe.train.checkpoint.async) return false;
  const Status copied = session.weights_copy.Take(tensors);
  if (copied.ok()) return true;
  if (copied.code() != StatusCode::kResourceExhausted) return copied;
  LogWarning("checkpoints are written while training waits, since they cannot be copied: {}",
             copied.message());
  return false;
}

// That it stays is no reason to stop.
void ForgetPermission(const TrainingSession& session) {
  const Result<std::vector<int64_t>> steps = session.store.Steps();
  const Status forgotten =
      steps.ok() ? ForgetAllowedChanges(session.setup.run.paths().root, *steps) : steps.status();
  if (!forgotten.ok()) LogWarning("a permission for changes stays: {}", forgotten.message());
}

// The steps whose checkpoints stay beside the newest.
std::vector<int64_t> KeptBeside(const TrainingSession& session) {
  std::vector<int64_t> kept = {session.progress.best_step, session.kept_beside};
  if (session.options().on_nonfinite == "rollback") {
    kept.push_back(session.progress.planned_checkpoint);
  }
  return kept;
}

// What must be so before a checkpoint is written. The lines that it counts must not be lost where
// it is not. If the disk has refused them once, that they are lost can still come to light, at a
// resume; steps that are not stored are gone.
Status ReadyToWrite(TrainingSession& session) {
  STOKER_RETURN_IF_ERROR(session.setup.run.held()->CheckPlace());
  return WriteWithRetries("it", [&session] { return session.recorder->metrics().Sync(); });
}

// Returns what writes the checkpoint. It may run while training goes on, because it reads no member
// of the session that a step writes.
//   tensors  what is stored; empty if weights_copy has it
std::function<Status()> WritingOf(TrainingSession& session, Json state, NamedTensors tensors) {
  return [&session, step = session.progress.step, state = std::move(state),
          kept = KeptBeside(session), tensors = std::move(tensors)] {
    const TraceSpan span("write a checkpoint");
    STOKER_RETURN_IF_ERROR(ReadyToWrite(session));
    STOKER_ASSIGN_OR_RETURN(
        const std::vector<NamedArray> arrays,
        tensors.empty() ? session.weights_copy.Arrays() : ToNamedArrays(tensors));
    STOKER_RETURN_IF_ERROR(session.store.Write(step, arrays, state, kept));
    if (session.setup.resume) ForgetPermission(session);
    return OkStatus();
  };
}

// A checkpoint from before a change that was allowed is restored as it was then, although the
// recipe in the run directory is the changed one by now.
Status TakeAllowedChanges(TrainingSession& session, int64_t newest) {
  TrainingSetup& setup = session.setup;
  STOKER_ASSIGN_OR_RETURN(const std::optional<AllowedChanges> allowed,
                          ReadAllowedChanges(setup.run.paths().root));
  if (!allowed || !allowed->Cover(newest)) return OkStatus();
  setup.before_change = true;
  setup.recipe_changed |= allowed->recipe;
  return OkStatus();
}

// Of a rank that leaves checkpoints to rank 0, which finds alike what would keep it from one.
Status SkipCheckpoint(TrainingSession& session) {
  session.last_checkpoint = session.progress.step;
  session.view->checkpoint = session.progress.step;
  return OkStatus();
}

// What a checkpoint stores. Where it is made of what all ranks hold, all of them give theirs, or
// none does: rank 0 alone may have found that it cannot.
Result<NamedTensors> StateToStore(TrainingSession& session, const Status& mine) {
  if (!session.learner->states_differ()) {
    STOKER_RETURN_IF_ERROR(mine);
    return session.learner->State();
  }
  STOKER_RETURN_IF_ERROR(AgreeOn(session, mine, "the start of a checkpoint"));
  Result<NamedTensors> state = session.learner->GatherState();
  if (!state.ok()) return NoteAgreed(session, state.status());
  return state;
}

// Notes and reports how the writing of a checkpoint has ended.
Status NoteStored(TrainingSession& session, const CheckpointUnderWay& one, const Status& stored) {
  if (!stored.ok()) {
    return stored.While(
        fmt::format("writing the checkpoint of step {} (those before it are untouched)", one.step));
  }
  session.last_checkpoint = one.step;
  session.recorder->Checkpointed({.step = one.step,
                                  .path = session.store.PathOf(one.step),
                                  .seconds = one.since_begun.ElapsedSeconds(),
                                  .held_seconds = one.held_seconds});
  if (session.view) session.view->checkpoint = one.step;
  return CallEach(session,
                  [](Callback& callback, RunView& view) { return callback.OnCheckpoint(view); });
}

// Of each rank; all of them take part, or none does.
//   held  runs since training waits for it
Status WriteCheckpointInParts(TrainingSession& session, Status ready, CheckpointUnderWay one,
                              const Stopwatch& held) {
  Json state;
  if (ready.ok() && session.keeps_run()) {
    Result<Json> made = SessionState(session);
    ready = made.ok() ? ReadyToWrite(session) : made.status();
    if (made.ok()) state = *std::move(made);
  }
  STOKER_RETURN_IF_ERROR(AgreeOn(session, ready, "the start of a checkpoint"));
  const Status written = WriteParts(session, state, KeptBeside(session));
  if (!session.keeps_run()) {
    STOKER_RETURN_IF_ERROR(written);
    return SkipCheckpoint(session);
  }
  one.held_seconds = held.ElapsedSeconds();
  STOKER_RETURN_IF_ERROR(NoteStored(session, one, written));
  if (session.setup.resume) ForgetPermission(session);
  return CallEach(
      session, [](Callback& callback, RunView& view) { return callback.OnCheckpointTaken(view); });
}

}  // namespace

Status WriteCheckpoint(TrainingSession& session, CheckpointKind kind) {
  Progress& progress = session.progress;
  if (kind == CheckpointKind::kPlanned) progress.planned_checkpoint = progress.step;
  if (session.under_way && session.under_way->step == progress.step) return OkStatus();
  Status ready = FinishCheckpoint(session);  // that wait is counted there
  if (ready.ok() && session.last_checkpoint == progress.step) return OkStatus();
  const Stopwatch held;
  CheckpointUnderWay under_way{.step = progress.step};
  if (ready.ok()) ready = CheckFinite(session);
  if (session.in_parts()) return WriteCheckpointInParts(session, ready, under_way, held);
  STOKER_ASSIGN_OR_RETURN(NamedTensors tensors, StateToStore(session, ready));
  if (!session.keeps_run()) return SkipCheckpoint(session);
  STOKER_ASSIGN_OR_RETURN(Json state, SessionState(session));
  STOKER_ASSIGN_OR_RETURN(const bool copied, CopyWeights(session, tensors));
  if (copied) tensors.clear();
  std::function<Status()> write = WritingOf(session, std::move(state), std::move(tensors));
  if (copied) {
    session.checkpointing.Begin("checkpoint", std::move(write));
  } else {
    session.checkpointing.Do(write);
  }
  under_way.held_seconds = held.ElapsedSeconds();
  session.under_way = under_way;
  if (!copied) STOKER_RETURN_IF_ERROR(FinishCheckpoint(session));
  return CallEach(
      session, [](Callback& callback, RunView& view) { return callback.OnCheckpointTaken(view); });
}

Status NoteCheckpoint(TrainingSession& session) {
  return session.checkpointing.done() ? FinishCheckpoint(session) : OkStatus();
}

Status FinishCheckpoint(TrainingSession& session) {
  if (!session.under_way) return OkStatus();
  const Stopwatch held;
  const Status stored = [&session] {
    const TraceSpan span("wait for the checkpoint");
    return session.checkpointing.Take();
  }();
  CheckpointUnderWay one = *std::exchange(session.under_way, std::nullopt);
  one.held_seconds += held.ElapsedSeconds();
  return NoteStored(session, one, stored);
}

Status BeginWithWeights(TrainingSession& session) {
  const Recipe& recipe = session.setup.recipe;
  const StopScope stopped([&session] { return session.stop_requested(); });
  STOKER_ASSIGN_OR_RETURN(
      session.initial_weights,
      InitializeModel(session.learner->model(), recipe.train, recipe.data.train));
  return OkStatus();
}

Status RestoreNewest(TrainingSession& session) {
  const Result<CheckpointStore::Newest> newest = session.store.LoadNewest();
  std::vector<std::string>& warnings = session.setup.warnings;
  if (newest.status().code() == StatusCode::kNotFound) {
    warnings.push_back("the run has no checkpoint yet, so it begins at step 0");
    STOKER_RETURN_IF_ERROR(BeginWithWeights(session));
    return session.recorder->metrics().CutBack(0);
  }
  STOKER_RETURN_IF_ERROR(newest.status());
  warnings.insert(warnings.end(), newest->warnings.begin(), newest->warnings.end());
  STOKER_RETURN_IF_ERROR(TakeAllowedChanges(session, newest->step));
  return Restore(session, *newest).While("restoring " + session.store.PathOf(newest->step));
}

Status TakeStateOfFirst(TrainingSession& session) {
  Group& group = *session.setup.group;
  STOKER_ASSIGN_OR_RETURN(const std::string text, TextOfFirst(group, session.restored_state.dump(),
                                                              "the state of the checkpoint"));
  session.restored_state = {};
  Status taken;
  if (const Json state = Json::parse(text); !session.keeps_run() && !state.is_null()) {
    taken = RestoreState(session, state);
    session.last_checkpoint = session.progress.step;
    session.view->checkpoint = session.progress.step;
  }
  STOKER_RETURN_IF_ERROR(AgreeOn(session, taken, "the state of the checkpoint"));
  return session.learner->TakeStateOfFirst();
}

Status RestoreWeights(TrainingSession& session) {
  // What was skipped stays counted.
  GradScaler* const scaler = session.learner->scaler();
  const int64_t skipped = scaler ? scaler->skipped() : 0;
  const auto restore = [&session]() -> Status {
    if (!session.keeps_run()) return OkStatus();
    STOKER_RETURN_IF_ERROR(FinishCheckpoint(session));
    const int64_t step = session.progress.planned_checkpoint;
    STOKER_ASSIGN_OR_RETURN(const Checkpoint checkpoint, session.store.Load(step));
    return session.learner->Restore(checkpoint.tensors, session.store.PathOf(step));
  };
  STOKER_RETURN_IF_ERROR(AgreeOn(session, restore(), "going back to a checkpoint"));
  if (session.setup.group) STOKER_RETURN_IF_ERROR(session.learner->TakeStateOfFirst());
  if (scaler) scaler->set_skipped(skipped);
  return OkStatus();
}

}  // namespace stoker
