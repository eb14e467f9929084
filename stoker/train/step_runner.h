// StepRunner: one step of a run after the other, and what is done about those that break.
#pragma once

#include "stoker/train/training_session.h"

namespace stoker {

// One thread at a time.
class StepRunner {
 public:
  explicit StepRunner(TrainingSession& session) : session_(session) {}

  // All batches of one step, the update, the lines that are due. Errors: those of the pipeline and
  // of Learner; kFailedPrecondition where a loss, gradient or weight was not finite and the recipe
  // says stop, or cannot be followed, or its limit is reached; kCancelled where a batch had to be
  // waited for and the run was asked to stop meanwhile.
  Status Step();

  // Whether Step has failed because a batch did not come, and for nothing else: the run then stands
  // behind its last whole step, as if this one had not begun, and can be stored.
  bool lacks_data() const { return lacks_data_; }

  // The line of the steps since the last one, where no step follows and there were any.
  //   last  what the schedule gave the last of them
  Status LogRest(const ScheduleValue& last);

  // The samples and seconds since the last call.
  Throughput TakeEpoch();

 private:
  Result<int64_t> Backward();
  Result<TensorBatch> NextBatch();
  Status PutThrough(const TensorBatch& batch, int64_t batches);
  void TellCallbacks(const ScheduleValue& now);
  Status Settle(const at::Tensor& loss, bool log);
  Status CountLoss(const at::Tensor& loss, bool log);
  Status HandleBroken();
  Status Skip(const std::string& what);
  Status RollBack(const std::string& what);
  void Tell(int64_t samples, const ScheduleValue& now);
  Status LogLine(const ScheduleValue& now);
  std::optional<LossScaling> Scaling() const;

  TrainingSession& session_;
  bool lacks_data_ = false;
  Throughput at_last_line_, at_last_epoch_;
  double waited_at_last_line_ = 0;
};

}  // namespace stoker
