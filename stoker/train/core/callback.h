// Callback: code of yours that a run calls at its hook points.
//
// A kind is one struct with its options as fields (callbacks/stop_at.h) and a Build that makes the
// Callback; a recipe lists them, and they are called in that order:
//
//   train:
//     callbacks:
//       - stop_at: {step: 1000}
//       - log_tensors: {every: 100, match: "*.weight"}
//
// In C++ put Configure(MyCallback{}) into Recipe::train.callbacks, or hand one that is made already
// to Trainer::Add.
//
// One step calls, in this order: OnBatch for each of its batches, OnBackward, OnStep. What is due
// then follows: OnEvaluate, OnCheckpointTaken, and OnCheckpoint once that is stored. A step that is
// skipped (on_nonfinite) has no OnStep.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/device/feeder.h"
#include "stoker/run/evaluation.h"
#include "stoker/run/schedule.h"
#include "stoker/train/core/model.h"

namespace stoker {

class Learner;

// What a callback sees of its run.
struct RunView {
  Model& model;
  std::filesystem::path run;  // the run directory, where a callback may keep files
  int64_t total_steps = 0;
  int64_t steps_per_epoch = 0;
  int64_t step = 0;  // done; in OnBatch and OnBackward that of the step under way is one more
  int64_t checkpoint = -1;  // step of the newest that is stored; -1: none
  ScheduleValue now;        // of the newest step
  Learner& learner;         // what batches are put through
  // What the gradients are multiplied by in OnBatch and OnBackward; 1 but in float16.
  double gradient_scale = 1;
  // Newest values of what callbacks measure, by name: each line of metrics.jsonl has them, and so
  // has TensorBoard.
  std::map<std::string, double> figures = {};
  std::string end;  // set it to a reason, and training ends after this step as if it were the last
};

// One thread at a time, that which trains; a hook holds it up while it runs, and an error of one
// ends the run. What draws from torch's generators changes the draws of the model.
class Callback {
 public:
  virtual ~Callback() = default;

  // Before the first step, after a checkpoint has been restored.
  virtual Status OnStart(RunView&) { return OkStatus(); }
  // A batch is there, its forward pass not yet begun.
  virtual Status OnBatch(RunView&, const TensorBatch&) { return OkStatus(); }
  // The parameters hold the gradients of the whole step, before clipping, times
  // RunView::gradient_scale.
  virtual Status OnBackward(RunView&) { return OkStatus(); }
  // The weights have moved. `loss` may still be computed: reading it waits for the device.
  virtual Status OnStep(RunView&, const at::Tensor& /*loss*/) { return OkStatus(); }
  virtual Status OnEvaluate(RunView&, const Evaluation&) { return OkStatus(); }
  // The weights and all else are copied for a checkpoint, or written: training goes on.
  virtual Status OnCheckpointTaken(RunView&) { return OkStatus(); }
  // A checkpoint is stored, that of step run.checkpoint: this one, or where it was written while
  // training went on (checkpoint.async), one before.
  virtual Status OnCheckpoint(RunView&) { return OkStatus(); }
  // Training is over or was interrupted; not where it failed.
  virtual Status OnEnd(RunView&) { return OkStatus(); }

  // What a resumed run needs for it to go on as if it had not stopped: part of each checkpoint.
  virtual Result<Json> Save() const { return Json(); }
  // Before OnStart. Errors: kDataLoss where `state` is none of Save's.
  virtual Status Restore(const Json& /*state*/) { return OkStatus(); }
};

}  // namespace stoker
