// RunRecorder: passes the events of a run to metrics.jsonl, the run's log, TensorBoard, and an
// observer.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/run/metrics_file.h"
#include "stoker/run/observer.h"
#include "stoker/run/rank_pace.h"
#include "stoker/run/run_directory.h"
#include "stoker/run/schedule.h"
#include "stoker/run/tensorboard_log.h"

namespace stoker {

// Loss scaling of a run in float16 (grad_scaler.h).
struct LossScaling {
  double scale = 0;
  int64_t skipped = 0;  // steps so far whose gradients were not finite
};

// The line of metrics.jsonl every `log_every` steps.
struct TrainLine {
  int64_t step = 0;
  double epoch = 0;          // with its fraction
  double loss = 0;           // mean since the previous line
  ScheduleValue schedule;    // of the last step
  double images_per_s = 0;   // since the previous line
  double waited = 0;         // share of the time since the previous line spent waiting for data
  double train_seconds = 0;  // in steps of the run so far, over all its processes
  std::optional<LossScaling> scaling = {};
  std::optional<RankPace> ranks = {};          // since the previous line; nothing in one process
  int64_t skipped = 0;                         // steps, in all
  int64_t rollbacks = 0;                       // in all
  std::map<std::string, double> figures = {};  // of callbacks, by name
};

// Errors are those of writing the metrics. One thread at a time.
class RunRecorder {
 public:
  // `observer` may be null; borrowed, like `run`.
  static Result<std::unique_ptr<RunRecorder>> Open(RunDirectory& run, TrainObserver* observer);

  // Starts writing for TensorBoard too.
  //   recipe  every key filled in
  //   done    steps that the run has done, if it is resumed
  //   has_accuracy  whether its evaluations have one
  Status OpenTensorboard(const ConfigNode& recipe, std::optional<int64_t> done, bool has_accuracy);

  MetricsFile& metrics() { return metrics_; }
  // Returns null without TensorBoard.
  TensorboardLog* tensorboard() { return tensorboard_.get(); }

  void Started(const StartEvent& event);
  void Stepped(const StepEvent& event) { observer_.OnStep(event); }
  Status Logged(const TrainLine& line);
  void EpochEnded(const EpochEvent& event) { observer_.OnEpoch(event); }
  Status Evaluated(const EvaluateEvent& event);
  void Checkpointed(const CheckpointEvent& event);
  // `success` is unknown if the run was interrupted.
  void Ended(std::string_view how, std::optional<bool> success = std::nullopt);

 private:
  Status Append(const Json& line);
  RunRecorder(RunDirectory& run, TrainObserver& observer, MetricsFile metrics)
      : run_(run), observer_(observer), metrics_(std::move(metrics)) {}

  RunDirectory& run_;
  TrainObserver& observer_;
  MetricsFile metrics_;
  std::unique_ptr<TensorboardLog> tensorboard_;
};

}  // namespace stoker
