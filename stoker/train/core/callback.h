// Callback: user code that a run calls at its hook points.
//
// A kind is one struct with its options as fields (callbacks/stop_at.h) and a Build that makes the
// Callback; a recipe lists them, and they are called in that order:
//
//   train:
//     callbacks:
//       - stop_at: {step: 1000}
//       - log_tensors: {every: 100, match: "*.weight"}
//
// In C++ put Configure(MyCallback{}) into Recipe::train.callbacks, or pass an existing one to
// Trainer::Add.
//
// One step calls, in this order: OnBatch for each of its batches, OnBackward, OnStep. If due, these
// follow: OnEvaluate, OnCheckpointTaken, and OnCheckpoint once that is stored. A skipped step
// (on_nonfinite) has no OnStep. With train.hogwild threads have gradients of their own, and there
// is no OnBackward.
//
// Of several ranks that train together each calls its own callbacks; rank 0 alone writes
// checkpoints, and has OnCheckpointTaken and OnCheckpoint. A batch is then that rank's rows,
// gradients and losses are those of all. What changes weights or gradients must do so on every rank
// alike; files are for rank 0, whose state is in checkpoints. A run ends on all ranks where one of
// them asks for it: all hear of it after the next OnStep or OnEvaluate.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/device/feeder.h"
#include "stoker/run/evaluation.h"
#include "stoker/run/registry.h"
#include "stoker/run/schedule.h"
#include "stoker/run/weights_file.h"
#include "stoker/train/core/model.h"

namespace stoker {

class Learner;

// A callback's view of its run.
struct RunView {
  Model& model;
  std::filesystem::path run;  // the run directory; a callback may write files there
  int64_t total_steps = 0;
  int64_t steps_per_epoch = 0;
  int64_t step = 0;         // steps done; in OnBatch and OnBackward the current step is one more
  int64_t checkpoint = -1;  // step of the newest stored one; -1: none
  ScheduleValue now;        // of the newest step
  Learner& learner;         // processes the batches
  // The factor of the gradients in OnBatch and OnBackward; 1 except in float16.
  double gradient_scale = 1;
  // The newest measurements of callbacks, by name: written to each line of metrics.jsonl and to
  // TensorBoard.
  std::map<std::string, double> figures = {};
  int64_t rank = 0;                              // of those that train together
  Weights origin = {};                           // what weights are stored with, without arrays
  std::vector<MeasuredFigure> measured = {};     // TrainRecipe::Figures
  std::set<std::filesystem::path> exports = {};  // directories, each written by one callback
  // Set it to a reason to end training after this step as if it were the last.
  std::string end = {};
};

// Called by the training thread, which waits for each hook. An error of a hook ends the run. Draws
// from torch's generators change the draws of the model.
class Callback {
 public:
  virtual ~Callback() = default;

  // Called before the first step, after a checkpoint has been restored.
  virtual Status OnStart(RunView&) { return OkStatus(); }
  // Called with a batch before its forward pass.
  virtual Status OnBatch(RunView&, const TensorBatch&) { return OkStatus(); }
  // Called when the parameters hold the gradients of the whole step, before clipping, times
  // RunView::gradient_scale. Those of embeddings may be of rows: ValuesOfGradient reads either
  // (core/row_gradient.h).
  virtual Status OnBackward(RunView&) { return OkStatus(); }
  // Called after the update of the weights. `loss` may not be computed yet: reading it waits for
  // the device.
  virtual Status OnStep(RunView&, const at::Tensor& /*loss*/) { return OkStatus(); }
  virtual Status OnEvaluate(RunView&, const Evaluation&) { return OkStatus(); }
  // Called when everything has been copied for a checkpoint, or written, and training continues.
  virtual Status OnCheckpointTaken(RunView&) { return OkStatus(); }
  // Called when the checkpoint of step run.checkpoint is stored: the current one, or an earlier one
  // that was written during training (checkpoint.async).
  virtual Status OnCheckpoint(RunView&) { return OkStatus(); }
  // Called when training has ended or was interrupted, not when it failed.
  virtual Status OnEnd(RunView&) { return OkStatus(); }

  // Returns the state that a resumed run needs to continue as if it had not stopped: part of each
  // checkpoint.
  virtual Result<Json> Save() const { return Json(); }
  // Called before OnStart. Errors: kDataLoss if `state` is malformed.
  virtual Status Restore(const Json& /*state*/) { return OkStatus(); }
};

}  // namespace stoker
