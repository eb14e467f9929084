// Checkpoints of a run: their content, when one is due, which stay, and how a run resumes from one.
#pragma once

#include "stoker/base/clock.h"
#include "stoker/train/loop/training_session.h"

namespace stoker {

// on_nonfinite: rollback restores planned ones only, because they are at the same steps in every
// run, while others depend on a clock or a person.
enum class CheckpointKind { kPlanned, kUnplanned };

// Stores a checkpoint of the last step, unless it has one. Keeps the newest, the best and the last
// planned one. With checkpoint.async it is copied in memory and written while training continues;
// the next one waits until it is stored, so that planned ones are the same in every run, and one
// copy suffices. Without memory for the copy, training waits. Errors: a loss or weight that is not
// finite; those of CheckpointStore, also for the previous one.
Status WriteCheckpoint(TrainingSession& session, CheckpointKind kind);

// Call it between steps: reports a checkpoint that has been stored meanwhile, or returns the error
// of storing it, after which earlier ones are untouched. Quick.
Status NoteCheckpoint(TrainingSession& session);

// Does the same after waiting for an unfinished one.
Status FinishCheckpoint(TrainingSession& session);

// Loads the recipe's initial weights (init_from), if any. Only a new run needs the file, because a
// checkpoint has all weights.
Status BeginWithWeights(TrainingSession& session);

// Restores the newest whole checkpoint, or starts anew if there is none. Errors:
// kFailedPrecondition if the run does not match the recipe or the data; kDataLoss.
Status RestoreNewest(TrainingSession& session);

// Gives every rank what rank 0 has after RestoreNewest or BeginWithWeights: weights, optimizer,
// averages, and of a resumed run its progress, its position in the data and what else a checkpoint
// holds. Every rank calls it. Errors: those of Agree and of Group.
Status TakeStateOfFirst(TrainingSession& session);

// Restores weights, optimizer and averages from the last planned checkpoint. Keeps step, schedule,
// data and random state. Errors: kDataLoss if it is damaged.
Status RestoreWeights(TrainingSession& session);

// Decides when checkpoints are due beside those at the ends of epochs.
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
