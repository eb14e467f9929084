// TrainingSession: the objects of a run from its start to its end, shared by the parts of the loop:
// training_start.h makes it, step_runner.h runs steps, training_evaluation.h evaluates,
// training_checkpoints.h stores and restores it, training_loop.h decides when.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/trace.h"
#include "stoker/cluster/group.h"
#include "stoker/data/runtime/cpu_limit.h"
#include "stoker/device/accelerator.h"
#include "stoker/run/checkpoint.h"
#include "stoker/run/early_stopping.h"
#include "stoker/run/progress.h"
#include "stoker/run/rank_pace.h"
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
#include "stoker/train/step/hogwild.h"
#include "stoker/train/step/learner.h"

namespace stoker {

// Seconds spent in steps and their samples: in all, and since the last mark.
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

// A checkpoint that is being written.
struct CheckpointUnderWay {
  int64_t step = 0;
  Stopwatch since_begun;
  double held_seconds = 0;  // in which training waited
};

// The input of a new or resumed run.
struct TrainingSetup {
  Recipe recipe;
  TrainingPlan plan;
  OpenedDevice device;
  RunDirectory run;
  bool resume = false;
  bool allow_changes = false;                  // continue although the data has changed
  bool recipe_changed = false;                 // the run directory still holds the previous one
  bool choose_again = false;                   // an input of the choices has changed
  bool before_change = false;                  // the checkpoint precedes a change that was allowed
  Json data_marks = {};                        // of the files it reads (recipe_changes.h)
  std::vector<std::string> warnings = {};      // to report at the start
  std::optional<FirstBatch> first_batch = {};  // on the CPU, if one was read; not kept
  std::shared_ptr<Group> group = {};           // of the ranks that train together; null: alone
};

// One thread at a time. Not movable, because others hold addresses of its members.
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
  // Ranks that train together stop after the same step, once any of them was asked to.
  bool stop_requested() const { return setup.group ? stop_agreed : asked_to_stop(); }
  bool asked_to_stop() const { return stop != nullptr && *stop; }  // this process
  // Returns whether this process, alone or as rank 0, keeps the run: writes its directory, and
  // reads its checkpoints, whose content the others get from it.
  bool keeps_run() const { return rank() == 0; }
  int64_t rank() const { return setup.group ? setup.group->membership().rank : 0; }
  // Returns whether each rank writes a part of a checkpoint, and whether all take part in one.
  bool in_parts() const { return setup.group && setup.recipe.train.checkpoint.parts; }
  bool stores_together() const { return in_parts() || learner->states_differ(); }
  // Returns whether no step follows: the last is done, or something ended the run earlier.
  bool at_end() const { return progress.step >= plan().total_steps() || !progress.ended.empty(); }
  // Returns the sums over all processes of the run.
  Throughput throughput() const { return before.With(total); }

  TrainingSetup setup;
  CallbackList callbacks;
  const std::atomic<bool>* stop;
  bool stop_agreed = false;    // by all ranks
  bool all_know = false;       // an error that ends the run
  bool group_lost = false;     // ranks can no longer talk; then all_know too
  bool any_callbacks = false;  // of any rank
  Json restored_state = {};    // of the checkpoint, until other ranks have it
  EarlyStopping early_stopping;
  CheckpointStore store;

  Choices choices;
  std::unique_ptr<PipelineCpuScope> cpus;  // of the run's pipelines, once `choices` are set
  std::unique_ptr<RunRecorder> recorder;
  std::unique_ptr<Schedule> schedule;
  std::unique_ptr<Learner> learner;
  std::unique_ptr<HogwildTeam> hogwild;  // train.hogwild; null: steps are made one by one
  std::optional<int64_t> outputs;        // of its model, if known
  std::unique_ptr<BatchSource> batches;
  std::optional<Dataset> eval;             // the data of evaluations
  std::vector<ShiftScale> eval_normalize;  // its normalisation, done by the Feeder
  std::unique_ptr<RunView> view;           // for callbacks
  std::unique_ptr<RunStatus> status;       // null before the first step
  LossLog loss_log;
  Progress progress;
  std::string initial_weights;   // their source, for messages; empty: none
  int64_t last_checkpoint = -1;  // step of the newest stored one; -1: none
  int64_t kept_beside = -1;      // step of one kept in addition to `keep`; -1: none

  Throughput total;   // of this process
  Throughput before;  // of earlier processes
  BesideSteps beside;
  double joined_seconds = 0;         // of `total`, waiting for other ranks and exchanging
  std::vector<RankTime> rank_times;  // of all ranks, until the last line of metrics

  std::optional<CheckpointUnderWay> under_way;
  HostCopy weights_copy;         // source of the checkpoint being written
  BackgroundTask checkpointing;  // last: it uses the members above
};

// Returns the CPUs that a run's pipelines may keep busy (feed.h), once they are chosen.
int FeedCpus(const TrainingSession& session);

// Returns the batches of a run's pipelines that are copied to the device ahead of use.
int BatchesAhead(const TrainingSession& session);

// Returns how to feed `batches` to the device. REQUIRES: a learner, whose loss checks the targets.
//   normalize  the normalisation left to the Feeder
//   names      names of their samples in messages
FeederOptions FeedOptions(const TrainingSession& session, const Dataset& batches,
                          const std::vector<ShiftScale>& normalize, RowNames names);

// Says what this process does, for the messages of the ranks that train with it.
//   what  is followed by a step: "computing step" 12
void Does(TrainingSession& session, std::string_view what, int64_t step);

// Notes what all ranks know alike: that they stop (kCancelled), or an error. Returns it.
Status NoteAgreed(TrainingSession& session, const Status& agreed);

// Returns `mine` if the process is alone; else what all ranks make of theirs (Agree), and notes it.
// Every rank calls it at the same place.
Status AgreeOn(TrainingSession& session, const Status& mine, std::string_view what);

// Returns `status` of a loss or weight that is not finite, with the place and the checkpoints that
// are left; waits for an unfinished checkpoint.
//   ahead  1 if it is of the step after those done, 0 if of the last of them
Status Broken(TrainingSession& session, const Status& status, int64_t ahead = 0);

// The same where every rank has the error and calls it: one of them tells it.
Status BrokenForAll(TrainingSession& session, const Status& status, int64_t ahead = 0);

// Ends the run if a callback of any rank has asked for it. Every rank calls it at the same places.
Status AgreeOnEnd(TrainingSession& session);

// Calls each callback, and ends the run if one asks for it; of several ranks in AgreeOnEnd.
template <typename Hook>
Status CallEach(TrainingSession& session, Hook&& hook) {
  if (session.callbacks.empty()) return OkStatus();
  const TraceSpan span("callbacks");
  const Stopwatch watch;
  session.view->step = session.progress.step;
  STOKER_RETURN_IF_ERROR(
      session.callbacks.Each([&](Callback& callback) { return hook(callback, *session.view); }));
  session.beside.callback_seconds += watch.ElapsedSeconds();
  if (!session.setup.group && session.progress.ended.empty())
    session.progress.ended = session.view->end;
  return OkStatus();
}

}  // namespace stoker
