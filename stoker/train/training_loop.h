// TrainingLoop: the loop behind Trainer.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/device/accelerator.h"
#include "stoker/device/feeder.h"
#include "stoker/train/checkpoint.h"
#include "stoker/train/learner.h"
#include "stoker/train/loss_log.h"
#include "stoker/train/progress.h"
#include "stoker/train/run_recorder.h"
#include "stoker/train/trainer.h"
#include "stoker/train/training_plan.h"

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

class TrainingLoop {
 public:
  struct Setup {
    Recipe recipe;
    TrainingPlan plan;
    OpenedDevice device;
    RunDirectory run;
    bool resume = false;
    bool allow_changes = false;              // go on although the data has changed
    bool recipe_changed = false;             // the run directory still holds the one before
    bool choose_again = false;               // something that the choices depend on has changed
    std::vector<std::string> warnings = {};  // to be told at the start
  };
  explicit TrainingLoop(Setup setup);

  // See Trainer::Run.
  Result<TrainSummary> Run(TrainObserver* observer, const std::atomic<bool>* stop);

 private:
  // Before the first step.
  Status Start(TrainObserver* observer);
  Result<TuneReport> Choose();
  Result<bool> KeepChoices(const Choices& before) const;
  Status InitializeWeights();
  Status Lint();
  Status OpenFeeder();
  Status TryEvaluationData() const;
  Status StoreDecisions();
  Status RestoreNewest();
  Status Restore(const CheckpointStore::Newest& newest);
  void TellStart(TuneReport tuning);

  // The loop.
  Status RunSteps();
  Status TrainStep();
  Result<int64_t> BackwardBatches();
  void TellStep(int64_t samples, const ScheduleValue& now);
  Status LogLine(const ScheduleValue& now);
  std::optional<LossScaling> Scaling() const;
  Status CloseEpoch();
  Status Evaluate();
  Status WriteCheckpoint();
  Result<Json> State() const;
  Result<TrainSummary> Finish();
  Status Broken(const Status& status) const;

  bool AtEndOfEpoch() const;
  bool Finished() const;
  bool StopRequested() const { return stop_ != nullptr && *stop_; }
  Runtime FeedRuntime() const;
  FeederOptions FeedOptions(const Dataset& batches) const;
  TrainSummary Summary() const;

  Recipe recipe_;
  TrainingPlan plan_;
  OpenedDevice device_;
  RunDirectory run_;
  const bool resume_;
  const bool allow_changes_;
  const bool recipe_changed_;
  const bool choose_again_;
  std::vector<std::string> warnings_;
  std::string initial_weights_;  // where they came from, for people; empty: from nowhere else
  CheckpointStore checkpoints_;
  const std::atomic<bool>* stop_ = nullptr;

  Choices choices_;
  std::unique_ptr<RunRecorder> recorder_;
  std::unique_ptr<Schedule> schedule_;
  std::unique_ptr<Learner> learner_;
  std::unique_ptr<Feeder> feeder_;
  LossLog loss_log_;
  Progress progress_;
  int64_t last_checkpoint_ = -1;  // its step; -1: none
  bool interrupted_ = false;

  Throughput total_, at_last_line_, at_last_epoch_;  // of this process
  Throughput before_;                                // of those that it goes on from
  double waited_at_last_line_ = 0;
};

}  // namespace stoker
