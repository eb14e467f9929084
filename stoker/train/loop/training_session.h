// TrainingSession: what a run works with from its start to its end. The parts of the loop share it,
// each does one job: training_start.h makes it, step_runner.h takes steps, training_evaluation.h
// evaluates, training_checkpoints.h writes it down and reads it back, training_loop.h says when.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/data/runtime/cpu_limit.h"
#include "stoker/device/accelerator.h"
#include "stoker/run/checkpoint.h"
#include "stoker/run/early_stopping.h"
#include "stoker/run/progress.h"
#include "stoker/run/row_names.h"
#include "stoker/run/run_recorder.h"
#include "stoker/run/run_status.h"
#include "stoker/train/loop/background_task.h"
#include "stoker/train/loop/batch_source.h"
#include "stoker/train/loop/callback_list.h"
#include "stoker/train/loop/host_copy.h"
#include "stoker/train/loop/loss_log.h"
#include "stoker/train/plan/first_batch.h"
#include "stoker/train/plan/training_plan.h"
#include "stoker/train/step/learner.h"

namespace stoker {

// Seconds spent in steps and samples put through: in all, and since the last mark.
struct Throughput {
  double seconds = 0;
  int64_t samples = 0;

  double per_second() const { return seconds > 0 ? static_cast<double>(samples) / seconds : 0; }
  Throughput Since(const Throughput& mark) const {
    return {seconds - mark.seconds, samples - mark.samples};
  }
  Throughput With(const Throughput& other) const {
    return {seconds + other.seconds, samples + other.samples};
  }
};

// A checkpoint on its way to the disk.
struct CheckpointUnderWay {
  int64_t step = 0;
  Stopwatch since_begun;
  double held_seconds = 0;  // in which training waited
};

// What a run is begun or gone on with.
struct TrainingSetup {
  Recipe recipe;
  TrainingPlan plan;
  OpenedDevice device;
  RunDirectory run;
  bool resume = false;
  bool allow_changes = false;                  // go on although the data has changed
  bool recipe_changed = false;                 // the run directory still holds the one before
  bool choose_again = false;                   // something that the choices depend on has changed
  Json data_marks = {};                        // of the files it reads (recipe_changes.h)
  std::vector<std::string> warnings = {};      // to be told at the start
  std::optional<FirstBatch> first_batch = {};  // on the CPU, where one was read; not kept
};

// One thread at a time. Addresses of its members are kept: it stays where it is.
struct TrainingSession {
  TrainingSession(TrainingSetup with, CallbackList called, const std::atomic<bool>* asked_to_stop,
                  EarlyStopping stopping)
      : setup(std::move(with)),
        callbacks(std::move(called)),
        stop(asked_to_stop),
        early_stopping(std::move(stopping)),
        store(setup.run.paths().checkpoints(), setup.recipe.train.checkpoint.keep) {}
  TrainingSession(const TrainingSession&) = delete;
  TrainingSession& operator=(const TrainingSession&) = delete;

  const TrainOptions& options() const { return setup.recipe.train.options; }
  const TrainingPlan& plan() const { return setup.plan; }
  bool stop_requested() const { return stop != nullptr && *stop; }
  // Whether no step follows: the last is done, or something has ended the run before.
  bool at_end() const { return progress.step >= plan().total_steps() || !progress.ended.empty(); }
  // Over all processes of the run.
  Throughput throughput() const { return before.With(total); }

  TrainingSetup setup;
  CallbackList callbacks;
  const std::atomic<bool>* stop;
  EarlyStopping early_stopping;
  CheckpointStore store;

  Choices choices;
  std::unique_ptr<PipelineCpuScope> cpus;  // of the run's pipelines, once `choices` are there
  std::unique_ptr<RunRecorder> recorder;
  std::unique_ptr<Schedule> schedule;
  std::unique_ptr<Learner> learner;
  std::optional<int64_t> outputs;  // of its model, where they are known
  std::unique_ptr<BatchSource> batches;
  std::optional<Dataset> eval;             // what evaluations go through
  std::vector<ShiftScale> eval_normalize;  // of it, left to the Feeder
  std::unique_ptr<RunView> view;           // what callbacks see
  std::unique_ptr<RunStatus> status;       // before the first step
  LossLog loss_log;
  Progress progress;
  std::string initial_weights;   // where they came from, for people; empty: from nowhere else
  int64_t last_checkpoint = -1;  // step of the newest that is stored; -1: none
  int64_t kept_beside = -1;      // step of one that stays whatever `keep` says; -1: none

  Throughput total;   // of this process
  Throughput before;  // of those that it goes on from

  std::optional<CheckpointUnderWay> under_way;
  HostCopy weights_copy;         // what it is written from
  BackgroundTask checkpointing;  // last: it uses what stands above
};

// The CPUs that a run's pipelines may keep busy (feed.h), once they are chosen.
int FeedCpus(const TrainingSession& session);

// Batches of a run's pipelines that are on the device ahead of whoever asks for them.
int BatchesAhead(const TrainingSession& session);

// How batches of `batches` come to the device, once there is a learner, whose loss says what their
// targets must be like.
//   normalize  what is left to do to their inputs
//   names      what messages call their samples
FeederOptions FeedOptions(const TrainingSession& session, const Dataset& batches,
                          const std::vector<ShiftScale>& normalize, RowNames names);

// `status` of a loss or weight that is not finite, with where it happened and what is left; waits
// for a checkpoint that is under way.
//   ahead  1 where it is of the step after those done, 0 where it is of the last of them
Status Broken(TrainingSession& session, const Status& status, int64_t ahead = 0);

// Asks each callback, and ends the run where one wants it to.
template <typename Hook>
Status CallEach(TrainingSession& session, Hook&& hook) {
  if (session.callbacks.empty()) return OkStatus();
  session.view->step = session.progress.step;
  STOKER_RETURN_IF_ERROR(
      session.callbacks.Each([&](Callback& callback) { return hook(callback, *session.view); }));
  if (!session.view->end.empty() && session.progress.ended.empty()) {
    session.progress.ended = session.view->end;
  }
  return OkStatus();
}

}  // namespace stoker
