// Writes what happens in a training on the board.
#pragma once

#include "stoker/base/clock.h"
#include "stoker/run/observer.h"
#include "stoker/tools/live/live_board.h"

namespace stoker {

class TrainWatch final : public TrainObserver {
 public:
  // `board`: borrowed
  explicit TrainWatch(LiveBoard& board) : board_(board) {}

  void OnStart(const StartEvent& event) override;
  void OnStep(const StepEvent& event) override;
  void OnEpoch(const EpochEvent& event) override;
  void OnEvaluate(const EvaluateEvent& event) override;
  void OnCheckpoint(const CheckpointEvent& event) override;

 private:
  LiveBoard& board_;
  std::function<Profile()> pipeline_;
  Stopwatch since_profile_;
  bool any_profile_ = false;
};

}  // namespace stoker
