// Tries a model with batches of various sizes, for `stoker batch-find` and `stoker bench --model`.
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
  // The limit of BatchTrial::peak_bytes. On an accelerator its memory is a limit too, which causes
  // errors by itself.
  uint64_t memory_bytes = 0;
  double seconds = 0.5;       // of timing for each size, at least three steps
  bool forward_only = false;  // evaluation instead of training steps
};

// Used by one thread, which must outlive it.
class BatchTrials {
 public:
  //   recipe   uses its model, optimizer and seed, not its data
  //   samples  repeated to make batches of any size
  static Result<std::unique_ptr<BatchTrials>> Create(const Recipe& recipe, const ModelInput& input,
                                                     const Placement& placement,
                                                     TensorBatch samples, TrialOptions options);

  // Trains with batches of this size: one step to warm up, then as many as fit into the time. A
  // size that does not fit is a result, not an error, and the next call begins with a new model; so
  // is a single sample that the model cannot be trained on. Does not try sizes that by earlier
  // trials would need a tenth more than the limit. Errors: those of Learner::Step, except lack of
  // memory.
  Result<BatchTrial> Try(int64_t batch);

  // Times outliers (trial_outliers.h) once more and keeps the faster result, because the machine
  // may have been busy. Errors: those of Try.
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

// Returns a batch of `size` samples, which repeat those of `batch`.
TensorBatch Repeated(const TensorBatch& batch, int64_t size);

// Searches for the largest size that fits.
//   told  called after each trial; false ends the search
Status SearchBatches(BatchTrials& trials, BatchSearch& search,
                     const std::function<bool(const BatchTrial&)>& told);

}  // namespace stoker
