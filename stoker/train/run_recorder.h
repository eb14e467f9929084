// RunRecorder: tells what happens in a run to all who want to know: metrics.jsonl, the run's log,
// and an observer.
#pragma once

#include <memory>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/train/metrics_file.h"
#include "stoker/train/observer.h"
#include "stoker/train/run_directory.h"

namespace stoker {

// What metrics.jsonl gets every `log_every` steps.
struct TrainLine {
  int64_t step = 0;
  double epoch = 0;         // with its fraction
  double loss = 0;          // mean since the line before
  ScheduleValue schedule;   // of the last step
  double images_per_s = 0;  // since the line before
  double waited = 0;        // share of the time since the line before spent waiting for data
};

// Errors are those of writing the metrics. One thread at a time.
class RunRecorder {
 public:
  // `observer` may be null; borrowed, like `run`.
  static Result<std::unique_ptr<RunRecorder>> Open(RunDirectory& run, TrainObserver* observer);

  MetricsFile& metrics() { return metrics_; }

  void Started(const StartEvent& event);
  void Stepped(const StepEvent& event) { observer_.OnStep(event); }
  Status Logged(const TrainLine& line);
  void EpochEnded(const EpochEvent& event) { observer_.OnEpoch(event); }
  Status Evaluated(const EvaluateEvent& event);
  void Checkpointed(const CheckpointEvent& event);
  void Ended(std::string_view how);

 private:
  RunRecorder(RunDirectory& run, TrainObserver& observer, MetricsFile metrics)
      : run_(run), observer_(observer), metrics_(std::move(metrics)) {}

  RunDirectory& run_;
  TrainObserver& observer_;
  MetricsFile metrics_;
};

}  // namespace stoker
