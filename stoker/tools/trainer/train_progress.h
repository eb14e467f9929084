// Shows the progress of a training run: a bar on a terminal, plain lines elsewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "stoker/base/clock.h"
#include "stoker/base/statistics.h"
#include "stoker/run/observer.h"
#include "stoker/tools/program/status_line.h"

namespace stoker {

class TrainProgress final : public TrainObserver {
 public:
  struct Options {
    bool quiet = false;          // warnings only
    std::FILE* lines = nullptr;  // for permanent lines: stdout, or stderr if stdout holds JSON
    bool bar = false;            // draw one on standard error
    std::function<void()> before_first_step = [] {};
  };
  explicit TrainProgress(const Options& options)
      : options_(options), status_(options.bar && !options.quiet) {}

  void OnStart(const StartEvent& event) override;
  void OnStep(const StepEvent& event) override;
  void OnEpoch(const EpochEvent& event) override;
  void OnEvaluate(const EvaluateEvent& event) override;

  // Removes the bar and prints a deferred line. Call it before printing anything else.
  void Finish();

 private:
  void Print(const std::string& line);
  int64_t total_epochs() const;
  std::string EtaText() const;
  std::string StepText(const StepEvent& event) const;
  std::string EpochText(const EpochEvent& event) const;
  void PrintStarvation(const Starvation& starved);
  void FlushEvaluation();

  const Options options_;
  StatusLine status_;
  StartEvent start_;
  StepEvent last_step_;
  RunningStats epoch_loss_;  // of the steps since the last epoch's end
  std::string evaluated_;    // an evaluation; waits for the line of the epoch that it ended
  Stopwatch since_line_;
  bool told_of_starvation_ = false;
};

}  // namespace stoker
