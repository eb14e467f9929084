#include "stoker/train/loop/step_runner.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>

#include "stoker/base/clock.h"
#include "stoker/base/trace.h"
#include "stoker/data/core/failure_policy.h"
#include "stoker/train/loop/training_checkpoints.h"
#include "stoker/train/step/random_state.h"

namespace stoker {
namespace {

// A sample that cannot be made need not be the end of a run. Only what the recipe would not be
// refused with is proposed: what replaces a sample is read by position, and where samples are left
// out the number of steps does not follow from the data.
Status WithAdvice(const Status& status, const Recipe& recipe) {
  if (status.code() != StatusCode::kDataLoss || IsTooManyFailures(status)) return status;
  const bool by_position = recipe.data.train.node().random_access();
  const bool any_length = recipe.train.options.max_steps.has_value();
  std::string advice;
  if (by_position) {
    advice =
        "`on_error: replace` beside the stage puts another sample in its place and keeps the "
        "epoch's length";
  }
  if (any_length || !by_position) {
    advice += fmt::format("{}`on_error: skip` {}leaves it out{}", by_position ? ", " : "",
                          by_position ? "" : "beside the stage ",
                          any_length ? "" : ", and needs train.max_steps");
  }
  return {status.code(), fmt::format("{} ({})", status.message(), advice)};
}

}  // namespace

StepRunner::StepRunner(TrainingSession& session)
    : session_(session), before_(session.learner->model(), session.setup.device.device) {}

Result<TensorBatch> StepRunner::NextBatch() {
  Does(session_, "waiting for the data of step", session_.progress.step + 1);
  Result<std::optional<TensorBatch>> read = [this] {
    const TraceSpan span("wait for data");
    return session_.batches->Next();
  }();
  Does(session_, "computing step", session_.progress.step + 1);
  if (!read.ok()) return WithAdvice(read.status(), session_.setup.recipe);
  if (*read) {
    STOKER_RETURN_IF_ERROR(CallEach(session_, [&](Callback& callback, RunView& view) {
      return callback.OnBatch(view, **read);
    }));
    return **std::move(read);
  }
  return DataLoss("data.train ended after {} of {} steps; its source gives less than it announced",
                  session_.progress.step, session_.plan().total_steps());
}

Status StepRunner::PutThrough(const TensorBatch& batch, int64_t batches) {
  const Status status = session_.learner->Backward(batch, batches);
  if (!status.ok()) return status.While(fmt::format("in step {}", session_.progress.step + 1));
  if (const std::string note = session_.learner->TakeGraphNote(); !note.empty()) {
    session_.setup.run.Log("train.graph: " + note);
  }
  return OkStatus();
}

// All batches of a step go forward and back one by one, so that they need the memory of one.
Result<int64_t> StepRunner::BackwardAlone() {
  session_.learner->BeginStep(session_.progress.step + 1);
  const int64_t batches = session_.plan().BatchesOf(session_.progress.step);
  int64_t samples = 0;
  for (int64_t i = 0; i < batches; ++i) {
    STOKER_ASSIGN_OR_RETURN(const TensorBatch batch, NextBatch());
    STOKER_RETURN_IF_ERROR(PutThrough(batch, batches));
    samples += batch.size();
  }
  return samples;
}

// Draws are keyed by seed, step and rank, so that ranks draw differently, and a run that goes on
// draws as one that never stopped.
Result<int64_t> StepRunner::BackwardWithOthers() {
  const int64_t step = session_.progress.step + 1;
  SeedForStep(static_cast<uint64_t>(session_.options().seed), step, session_.rank());
  return JoinOthers(BackwardAlone());
}

// A rank that cannot make the step joins all the same, so that the others do not wait for it. One
// whose pass another rank has ended has no error of its own.
Result<int64_t> StepRunner::JoinOthers(const Result<int64_t>& mine) {
  const Status own = session_.learner->left() ? OkStatus() : mine.status();
  const Stopwatch watch;
  Result<StepTotals> all = session_.learner->Join({.samples = mine.ok() ? *mine : 0,
                                                   .failed = own.ok() ? 0 : 1,
                                                   .stopped = session_.asked_to_stop() ? 1 : 0});
  session_.joined_seconds += watch.ElapsedSeconds();
  if (!all.ok()) {
    const Status lost = NoteAgreed(session_, all.status());
    // The end of the others ends this one's wait for its data.
    if (own.ok() || own.code() == StatusCode::kCancelled) return lost;
    return Status(own.code(), fmt::format("{} (telling the other ranks failed as well: {})",
                                          own.message(), lost.message()));
  }
  session_.stop_agreed |= all->stopped > 0;
  if (all->failed > 0) {
    // Where all have failed at once it was for one reason, which rank 0 tells.
    const bool told = all->failed == session_.setup.group->membership().world;
    STOKER_RETURN_IF_ERROR(AgreeOn(session_, told && !session_.keeps_run() ? OkStatus() : own,
                                   "a step that a rank cannot make"));
  }
  if (!mine.ok()) return NoteAgreed(session_, mine.status());
  return all->samples;
}

Result<int64_t> StepRunner::Backward() {
  STOKER_ASSIGN_OR_RETURN(const int64_t samples,
                          session_.setup.group ? BackwardWithOthers() : BackwardAlone());
  // Callbacks see no step that will be undone: Learner knows by now of a loss that is not finite.
  if (!session_.learner->why().empty() && !WhyStop().empty()) return samples;
  STOKER_RETURN_IF_ERROR(CallEach(
      session_, [](Callback& callback, RunView& view) { return callback.OnBackward(view); }));
  return samples;
}

// REQUIRES: the failed step has changed neither weights nor optimizer, or other threads have made
// updates of their own (MakeHogwildStep).
Status StepRunner::Undo(const Status& why, Failure failure) {
  failure_ = Failure::kLost;
  STOKER_RETURN_IF_ERROR(before_.Restore());
  failure_ = failure;
  return why;
}

Result<StepRunner::Made> StepRunner::MakeStep(const ScheduleValue& now) {
  const int64_t step = session_.progress.step + 1;
  const Result<int64_t> samples = Backward();
  if (!samples.ok()) return Undo(samples.status(), Failure::kUndone);
  failure_ = Failure::kLost;
  Result<at::Tensor> loss = session_.learner->Update(now, step);
  if (!loss.ok()) {
    // What another rank has met has its own place.
    if (loss.status().code() == StatusCode::kUnavailable)
      return NoteAgreed(session_, loss.status());
    return loss.status().While(fmt::format("in step {}", step));
  }
  if (session_.learner->average_due()) STOKER_RETURN_IF_ERROR(AverageRanks());
  if (session_.learner->outcome() == StepOutcome::kBroken) {
    if (const std::string why = WhyStop(); !why.empty()) {
      return Undo(FailedPrecondition("{}", why), Failure::kBroken);
    }
  }
  return Made{.samples = *samples, .loss = *std::move(loss)};
}

// What other threads did to the weights in a step that fails stays: the weights are as good as
// before, and the step is made again with the same batches.
Result<StepRunner::Made> StepRunner::MakeHogwildStep(const ScheduleValue& now) {
  const int64_t step = session_.progress.step + 1;
  std::vector<TensorBatch> batches;
  Made made;
  for (int64_t i = session_.plan().BatchesOf(step - 1); i > 0; --i) {
    Result<TensorBatch> batch = NextBatch();
    if (!batch.ok()) return Undo(batch.status(), Failure::kUndone);
    made.samples += batch->size();
    batches.push_back(*std::move(batch));
  }
  Result<HogwildTeam::Outcome> outcome = session_.hogwild->Step(batches, now, step);
  if (!outcome.ok())
    return Undo(outcome.status().While(fmt::format("in step {}", step)), Failure::kUndone);
  if (!outcome->broken.empty())
    return Undo(FailedPrecondition("step {}: {}", step, outcome->broken), Failure::kBroken);
  failure_ = Failure::kLost;
  made.loss = std::move(outcome->loss);
  return made;
}

Status StepRunner::Step() {
  const TraceSpan span("step");
  const Stopwatch watch;
  Progress& progress = session_.progress;
  const ScheduleValue now = session_.schedule->At(progress.step);
  if (session_.view) TellCallbacks(now);
  failure_ = Failure::kUndone;
  STOKER_RETURN_IF_ERROR(before_.Take());
  STOKER_ASSIGN_OR_RETURN(const Made made, session_.hogwild ? MakeHogwildStep(now) : MakeStep(now));
  ++progress.step;
  session_.batches->StepDone();
  const bool log = progress.step % session_.options().log_every == 0;
  STOKER_RETURN_IF_ERROR(Settle(made.loss, log));
  session_.total.seconds += watch.ElapsedSeconds();
  session_.total.samples += made.samples;
  Tell(made.samples, now);
  STOKER_RETURN_IF_ERROR(log ? LogLine(now) : LogRest(now));
  failure_ = Failure::kNone;
  return OkStatus();
}

Status StepRunner::AverageRanks() {
  if (!session_.learner->local()) return OkStatus();
  Does(session_, "taking the mean of the weights after step", session_.progress.step);
  const Stopwatch watch;
  const Status averaged = session_.learner->AverageRanks();
  session_.joined_seconds += watch.ElapsedSeconds();
  return averaged.ok() ? averaged : NoteAgreed(session_, averaged);
}

Status StepRunner::LogRest(const ScheduleValue& last) {
  if (!session_.at_end()) return OkStatus();
  STOKER_RETURN_IF_ERROR(BrokenForAll(session_, session_.loss_log.Flush()));
  return session_.loss_log.empty() ? OkStatus() : LogLine(last);
}

// Otherwise no loss is left where a line is due.
Status StepRunner::LogMissed() {
  const int64_t step = session_.progress.step;
  const bool due = step % session_.options().log_every == 0 || session_.at_end();
  if (step == 0 || !due || session_.loss_log.empty()) return OkStatus();
  return LogLine(session_.schedule->At(step - 1));
}

void StepRunner::TellCallbacks(const ScheduleValue& now) {
  session_.view->now = now;
  const GradScaler* const scaler = session_.learner->scaler();
  session_.view->gradient_scale = scaler == nullptr ? 1 : scaler->scale();
}

// In float16 a step that the scaler leaves out is a step like others, but for the weights: its loss
// counts, and it neither adds to the broken ones in a row nor ends them.
Status StepRunner::Settle(const at::Tensor& loss, bool log) {
  switch (session_.learner->outcome()) {
    case StepOutcome::kBroken:
    case StepOutcome::kBrokeWeights: return HandleBroken();
    case StepOutcome::kScaled: return CountLoss(loss, log);
    case StepOutcome::kMoved: break;
  }
  session_.progress.skipped_in_row = 0;
  STOKER_RETURN_IF_ERROR(CountLoss(loss, log));
  STOKER_RETURN_IF_ERROR(CallEach(
      session_, [&](Callback& callback, RunView& view) { return callback.OnStep(view, loss); }));
  return AgreeOnEnd(session_);
}

Status StepRunner::CountLoss(const at::Tensor& loss, bool log) {
  STOKER_RETURN_IF_ERROR(
      BrokenForAll(session_, session_.loss_log.Add(session_.progress.step, loss)));
  return log ? BrokenForAll(session_, session_.loss_log.Flush()) : OkStatus();
}

// Returns why a step whose loss or gradient was not finite ends the run; empty if the recipe
// says to continue. Called before the step is counted.
std::string StepRunner::WhyStop() const {
  const TrainOptions& options = session_.options();
  const Progress& progress = session_.progress;
  const std::string what = fmt::format("step {}: {}", progress.step + 1, session_.learner->why());
  if (options.on_nonfinite == "stop") return what;
  if (options.on_nonfinite == "skip" && progress.skipped_in_row >= options.nonfinite_limit) {
    return fmt::format("{}; {} steps in a row were skipped before", what, options.nonfinite_limit);
  }
  if (options.on_nonfinite == "rollback" && progress.rollbacks >= options.nonfinite_limit) {
    return fmt::format("{}; the run has rolled back {} times before", what, progress.rollbacks);
  }
  return {};
}

// The weights are those before the step, Learner has seen to that, unless it broke them: then only
// going back helps.
Status StepRunner::HandleBroken() {
  const std::string what =
      fmt::format("step {}: {}", session_.progress.step, session_.learner->why());
  const bool moved = session_.learner->outcome() == StepOutcome::kBrokeWeights;
  const std::string& action = session_.options().on_nonfinite;
  if (action == "skip" && !moved) return Skip(what);
  if (action == "rollback") return RollBack(what);
  return BrokenForAll(session_,
                      FailedPrecondition("{}{}", what,
                                         action == "skip" ? ", which cannot be skipped any more "
                                                            "(on_nonfinite: rollback goes back)"
                                                          : ""));
}

Status StepRunner::Skip(const std::string& what) {
  Progress& progress = session_.progress;
  ++progress.skipped;
  ++progress.skipped_in_row;
  session_.setup.run.Log(fmt::format("{}; skipped, {} in all", what, progress.skipped));
  return OkStatus();
}

Status StepRunner::RollBack(const std::string& what) {
  Progress& progress = session_.progress;
  if (progress.rollbacks >= session_.options().nonfinite_limit) {  // the weights are broken
    return BrokenForAll(session_, FailedPrecondition("{}; the run has rolled back {} times before",
                                                     what, progress.rollbacks));
  }
  ++progress.rollbacks;
  session_.setup.run.Log(fmt::format(
      "{}; back to the weights of step {}, rollback {} of at most {}", what,
      progress.planned_checkpoint, progress.rollbacks, session_.options().nonfinite_limit));
  return RestoreWeights(session_).While("rolling back after " + what);
}

void StepRunner::Tell(int64_t samples, const ScheduleValue& now) {
  const TraceSpan span("progress");
  StepEvent event{.step = session_.progress.step,
                  .samples = samples,
                  .loss = session_.loss_log.last(),
                  .lr = now.lr,
                  .train_seconds = session_.total.seconds,
                  .waited_seconds = session_.batches->waited_seconds(),
                  .train_samples = session_.total.samples,
                  .beside = session_.beside};
  session_.status->Stepped(event);
  event.starved = session_.status->starved();
  event.ranks = pace_ ? &*pace_ : nullptr;
  session_.recorder->Stepped(event);
}

Status StepRunner::LogLine(const ScheduleValue& now) {
  const TraceSpan span("logging");
  const Stopwatch watch;
  const Throughput window = session_.total.Since(at_last_line_);
  const double waited = session_.batches->waited_seconds() - waited_at_last_line_;
  at_last_line_ = session_.total;
  waited_at_last_line_ = session_.batches->waited_seconds();
  STOKER_ASSIGN_OR_RETURN(pace_, FindPace(window.seconds));
  const Status logged =
      session_.recorder->Logged({.step = session_.progress.step,
                                 .epoch = static_cast<double>(session_.progress.step) /
                                          static_cast<double>(session_.plan().steps_per_epoch()),
                                 .loss = session_.loss_log.mean(),
                                 .schedule = now,
                                 .images_per_s = window.per_second(),
                                 .waited = window.seconds > 0 ? waited / window.seconds : 0,
                                 .train_seconds = session_.throughput().seconds,
                                 .scaling = Scaling(),
                                 .ranks = pace_,
                                 .skipped = session_.progress.skipped,
                                 .rollbacks = session_.progress.rollbacks,
                                 .figures = session_.view->figures});
  session_.beside.logging_seconds += watch.ElapsedSeconds();
  // What a line that could not be written was to say is said by the next.
  if (logged.ok())
    session_.loss_log.Clear();
  else
    failure_ = Failure::kAfter;
  return logged;
}

// How the ranks kept up in the last `seconds` of steps. Every rank calls it at the same steps.
Result<std::optional<RankPace>> StepRunner::FindPace(double seconds) {
  Group* const group = session_.setup.group.get();
  if (group == nullptr) return std::optional<RankPace>();
  const double joined = session_.joined_seconds - joined_at_last_line_;
  joined_at_last_line_ = session_.joined_seconds;
  const int64_t world = group->membership().world;
  at::Tensor all = at::empty({world, 2}, at::kDouble);
  const Status gathered = NoteAgreed(
      session_,
      group->AllGather(at::tensor({seconds, joined}, at::kDouble), all, "the times of the ranks"));
  if (!gathered.ok()) {
    failure_ = Failure::kAfter;
    return gathered;
  }
  std::vector<RankTime> times;
  for (int64_t rank = 0; rank < world; ++rank) {
    const double* const of_rank = all.const_data_ptr<double>() + 2 * rank;
    times.push_back({.seconds = of_rank[0], .joined = of_rank[1]});
  }
  session_.rank_times.resize(times.size());
  for (size_t rank = 0; rank < times.size(); ++rank) {
    session_.rank_times[rank].seconds += times[rank].seconds;
    session_.rank_times[rank].joined += times[rank].joined;
  }
  return PaceOf(times);
}

std::optional<LossScaling> StepRunner::Scaling() const {
  const GradScaler* const scaler = session_.learner->scaler();
  if (scaler == nullptr) return std::nullopt;
  return LossScaling{.scale = scaler->scale(), .skipped = scaler->skipped()};
}

Throughput StepRunner::TakeEpoch() {
  const Throughput window = session_.total.Since(at_last_epoch_);
  at_last_epoch_ = session_.total;
  return window;
}

}  // namespace stoker
