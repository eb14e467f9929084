// TrainingLoop: the implementation of Trainer. It decides what is due; training_session.h lists the
// parts that do it.
#pragma once

#include <atomic>
#include <memory>

#include "stoker/train/loop/step_runner.h"
#include "stoker/train/loop/trainer.h"
#include "stoker/train/loop/training_checkpoints.h"
#include "stoker/train/loop/training_session.h"

namespace stoker {

class TrainingLoop {
 public:
  explicit TrainingLoop(TrainingSetup setup) : setup_(std::move(setup)), held_(setup_.run.held()) {}

  // Call it before Run.
  void Add(std::string name, std::shared_ptr<Callback> callback) {
    callbacks_.Add(std::move(name), std::move(callback));
  }

  // See Trainer.
  void Discard() const;

  // See Trainer::Run.
  Result<TrainSummary> Run(TrainObserver* observer, const std::atomic<bool>* stop);

 private:
  // What other processes see of the run from here on.
  std::unique_ptr<RunStatus> PublishStatus() const;
  Status RunSteps();
  Status EndTogether(const Status& mine);
  Status DoWhatIsDue();
  Status EvaluateNow();
  Status AfterFailedStep(const Status& status);
  Status StoreAndPass(const Status& status);
  Status StopBroken(const Status& status, int64_t ahead);
  Status Checkpoint(CheckpointKind kind);
  Status CheckpointBetweenEpochs();
  Status CloseEpoch();
  Result<TrainSummary> Finish();
  Status WriteResults();

  bool AtPlannedEndOfEpoch() const;
  bool AtEndOfEpoch() const;
  bool EvaluationPlanned() const;
  bool EvaluationDue() const;
  bool CheckpointPlanned() const;
  bool Finished() const;
  TrainSummary Summary() const;

  TrainingSetup setup_;
  const std::weak_ptr<HeldRun> held_;  // expires once a refused run has been released
  CallbackList callbacks_;
  std::unique_ptr<TrainingSession> session_;
  std::unique_ptr<StepRunner> steps_;
  std::unique_ptr<CheckpointClock> clock_;
  bool interrupted_ = false;
};

}  // namespace stoker
