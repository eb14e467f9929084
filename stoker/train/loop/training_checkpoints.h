// Checkpoints of a run: what is in one, when one is due, which stay, and how a run goes on from
// one.
#pragma once

#include "stoker/base/clock.h"
#include "stoker/train/loop/training_session.h"

namespace stoker {

// A run goes back to planned ones only (on_nonfinite: rollback): those of the plan come at the same
// steps in every run, others when a clock or a person wanted them.
enum class CheckpointKind { kPlanned, kUnplanned };

// Stores one of the step done, unless that has one. The newest, the best and the last planned stay.
// Where the recipe says so (checkpoint.async), it is copied in memory and written while training
// goes on; the next waits until it is stored, so that those of the plan are the same ones in every
// run, and no more than one copy is needed. Where there is no memory for it, training waits.
// Errors: a loss or weight that is not finite; those of CheckpointStore, also for the one before.
Status WriteCheckpoint(TrainingSession& session, CheckpointKind kind);

// To be called between steps: where one has been stored meanwhile, tells; where it could not be,
// its error. Those before it are untouched then. Quick.
Status NoteCheckpoint(TrainingSession& session);

// The same, after waiting for one that is under way.
Status FinishCheckpoint(TrainingSession& session);

// Takes the weights that the recipe begins with (init_from), where it names some. Those of a
// checkpoint say all; only a run that begins needs the file.
Status BeginWithWeights(TrainingSession& session);

// Goes on from the newest whole checkpoint, or from the start where there is none. Errors:
// kFailedPrecondition where the run does not fit the recipe or the data; kDataLoss.
Status RestoreNewest(TrainingSession& session);

// Gives weights, optimizer and averages what they were at the last planned checkpoint. Step,
// schedule, data and random state stay where they are. Errors: kDataLoss where it is damaged.
Status RestoreWeights(TrainingSession& session);

// When checkpoints are due beside those at the ends of epochs.
class CheckpointClock {
 public:
  explicit CheckpointClock(const CheckpointOptions& options) : options_(options) {}

  bool DueByStep(int64_t step) const {
    return options_.every_steps && step % *options_.every_steps == 0;
  }
  bool DueByTime() const {
    return options_.every_minutes && since_.ElapsedSeconds() >= *options_.every_minutes * 60;
  }
  void Written() { since_ = Stopwatch(); }

 private:
  const CheckpointOptions options_;
  Stopwatch since_;
};

}  // namespace stoker
