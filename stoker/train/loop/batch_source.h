// BatchSource: the batches that a run trains on: those of its pipeline, or the first few of them
// repeatedly (train.overfit_batches).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/profile.h"
#include "stoker/base/status.h"
#include "stoker/device/device_prefetcher.h"

namespace stoker {

// One thread at a time.
class BatchSource {
 public:
  //   again  this many batches are kept and repeated; nothing: each comes once
  BatchSource(std::unique_ptr<DevicePrefetcher> batches, std::optional<int64_t> again)
      : batches_(std::move(batches)), again_(again) {
    batches_->Mark();
  }

  // Returns the next batch; nothing at the pipeline's end. Errors: those of DevicePrefetcher::Next;
  // kDataLoss if it has fewer batches than should be kept.
  Result<std::optional<TensorBatch>> Next();

  // Call it after all batches of a step.
  void StepDone();

  // Returns the position after the last whole step, also in the middle of the next and after an
  // error. Kept batches are read again, not stored.
  Result<Json> Save() const;
  Status Restore(const Json& state);

  double waited_seconds() const { return batches_->waited_seconds(); }
  LimitingStage FindLimit() const { return batches_->FindLimit(); }
  // The counters of the pipeline so far, and what its stages do.
  Profile GetProfile() const { return batches_->GetProfile(); }
  StageWorks works() const { return batches_->works(); }

 private:
  Result<std::optional<TensorBatch>> NextOfKept();
  Status Keep();

  std::unique_ptr<DevicePrefetcher> batches_;
  std::optional<int64_t> again_;
  std::vector<TensorBatch> kept_;
  int64_t given_ = 0;  // kept batches returned, in all
  int64_t done_ = 0;   // those in whole steps
};

}  // namespace stoker
