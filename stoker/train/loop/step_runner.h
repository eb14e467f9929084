// StepRunner: runs the steps of a run, and handles those that break.
#pragma once

#include "stoker/train/loop/training_session.h"
#include "stoker/train/step/forward_state.h"

namespace stoker {

// One thread at a time.
class StepRunner {
 public:
  explicit StepRunner(TrainingSession& session);

  // Runs all batches of one step and the update, and writes the lines that are due. Errors: those
  // of the pipeline and of Learner; kFailedPrecondition if a loss, gradient or weight was not
  // finite and the recipe says stop, or cannot be followed, or its limit is reached; kCancelled if
  // the run was asked to stop while waiting for a batch.
  Status Step();

  // How Step has failed.
  enum class Failure {
    kNone,
    kUndone,  // before it changed a weight: the run is at its last whole step, as if this one had
              // not begun, and can be stored
    kBroken,  // the same, because a loss or gradient was not finite
    kLost,    // after it changed the weights, or while restoring others
    kAfter    // after it, when its line was to be written: the step is whole and can be stored
  };
  Failure failure() const { return failure_; }

  // Learner::AverageRanks, of which all ranks know alike how it ended. Does nothing in one process.
  Status AverageRanks();

  // Writes the line of the steps since the last line, if any, when no step follows.
  //   last  the schedule's value of the last of them
  Status LogRest(const ScheduleValue& last);

  // Writes the line that the run owes since it was stored when its line could not be written. Call
  // it once, before the first step.
  Status LogMissed();

  // Returns the samples and seconds since the last call.
  Throughput TakeEpoch();

 private:
  struct Made {
    int64_t samples = 0;
    at::Tensor loss;
  };
  Result<Made> MakeStep(const ScheduleValue& now);
  Result<Made> MakeHogwildStep(const ScheduleValue& now);
  Result<int64_t> Backward();
  Result<int64_t> BackwardAlone();
  Result<int64_t> BackwardWithOthers();
  Result<int64_t> JoinOthers(const Result<int64_t>& mine);
  Status Undo(const Status& why, Failure failure);
  Result<TensorBatch> NextBatch();
  Status PutThrough(const TensorBatch& batch, int64_t batches);
  void TellCallbacks(const ScheduleValue& now);
  Status Settle(const at::Tensor& loss, bool log);
  Status CountLoss(const at::Tensor& loss, bool log);
  Status HandleBroken();
  std::string WhyStop() const;
  Status Skip(const std::string& what);
  Status RollBack(const std::string& what);
  void Tell(int64_t samples, const ScheduleValue& now);
  Status LogLine(const ScheduleValue& now);
  Result<std::optional<RankPace>> FindPace(double seconds);
  std::optional<LossScaling> Scaling() const;

  TrainingSession& session_;
  ForwardState before_;  // of the current step
  Failure failure_ = Failure::kNone;
  Throughput at_last_line_, at_last_epoch_;
  double waited_at_last_line_ = 0, joined_at_last_line_ = 0;
  std::optional<RankPace> pace_;  // of the steps of the last line
};

}  // namespace stoker
