// TrainObservers: several observers of one run.
#pragma once

#include <vector>

#include "stoker/run/observer.h"

namespace stoker {

// Passes each event to all, in the order in which they were added. One thread at a time.
class TrainObservers final : public TrainObserver {
 public:
  // `observer`: borrowed; null is left out
  void Add(TrainObserver* observer) {
    if (observer != nullptr) all_.push_back(observer);
  }

  void OnStart(const StartEvent& event) override {
    for (TrainObserver* each : all_) each->OnStart(event);
  }
  void OnStep(const StepEvent& event) override {
    for (TrainObserver* each : all_) each->OnStep(event);
  }
  void OnEpoch(const EpochEvent& event) override {
    for (TrainObserver* each : all_) each->OnEpoch(event);
  }
  void OnEvaluate(const EvaluateEvent& event) override {
    for (TrainObserver* each : all_) each->OnEvaluate(event);
  }
  void OnCheckpoint(const CheckpointEvent& event) override {
    for (TrainObserver* each : all_) each->OnCheckpoint(event);
  }

 private:
  std::vector<TrainObserver*> all_;
};

}  // namespace stoker
