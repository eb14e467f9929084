// Tries a model with batches of various sizes: what `stoker batch-find` searches with, and what
// `stoker bench --model` prints.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/device/accelerator.h"
#include "stoker/run/recipe.h"
#include "stoker/train/step/learner.h"
#include "stoker/train/tune/batch_search.h"
#include "stoker/train/tune/memory_meter.h"

namespace stoker {

struct TrialOptions {
  // What a step may need at once (BatchTrial::peak_bytes). On an accelerator its memory is a limit
  // too, and one that shows itself.
  uint64_t memory_bytes = 0;
  double seconds = 0.5;       // of timing for each size, but at least three steps
  bool forward_only = false;  // evaluation instead of training steps
};

// One thread at a time, which lives as long.
class BatchTrials {
 public:
  //   recipe   its model, optimizer and seed count; its data does not
  //   samples  a batch that batches of any size are made of, by repetition
  static Result<std::unique_ptr<BatchTrials>> Create(const Recipe& recipe, const ModelInput& input,
                                                     const Placement& placement,
                                                     TensorBatch samples, TrialOptions options);

  // Trains with batches of this size: one step to warm up, then as many as fit into the time. A
  // size that does not fit is no error but an answer, and the next call begins with a new model; so
  // is one sample that the model cannot be trained on alone.
  // Sizes that by those before would need a tenth more than the limit are not tried. Errors: those
  // of Learner::Step but for want of memory.
  Result<BatchTrial> Try(int64_t batch);

  // Times those again that were slower than their neighbours explain (trial_outliers.h), once, and
  // keeps the faster of both: a busy moment of the machine is no answer. Errors: as of Try.
  Status RetimeOutliers();

  const std::vector<BatchTrial>& trials() const { return trials_; }

 private:
  BatchTrials(const Recipe& recipe, ModelInput input, const Placement& placement,
              TensorBatch samples, TrialOptions options);
  Status Measure(BatchTrial& trial);
  Status StepOnce(const TensorBatch& batch);
  void Refuse(BatchTrial& trial, std::string reason);

  const Recipe recipe_;
  const ModelInput input_;
  const Placement placement_;
  const TensorBatch samples_;
  const TrialOptions options_;
  MemoryMeter meter_;
  std::unique_ptr<Learner> learner_;
  std::vector<BatchTrial> trials_;
};

// A batch of `size` samples made of those of `batch`, again and again.
TensorBatch Repeated(const TensorBatch& batch, int64_t size);

// The search for the largest size that fits.
//   told  after each trial; false ends the search
Status SearchBatches(BatchTrials& trials, BatchSearch& search,
                     const std::function<bool(const BatchTrial&)>& told);

}  // namespace stoker
