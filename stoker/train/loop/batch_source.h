// BatchSource: the batches that a run trains on: those of its pipeline, or the first few of them
// again and again (train.overfit_batches).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/device/device_prefetcher.h"

namespace stoker {

// One thread at a time.
class BatchSource {
 public:
  //   again  so many batches are kept and given again and again; nothing: each comes once
  BatchSource(std::unique_ptr<DevicePrefetcher> batches, std::optional<int64_t> again)
      : batches_(std::move(batches)), again_(again) {
    batches_->Mark();
  }

  // The next batch; nothing where the pipeline has ended. Errors: those of DevicePrefetcher::Next;
  // kDataLoss where it has fewer batches than are to be kept.
  Result<std::optional<TensorBatch>> Next();

  // All batches of a step have been given.
  void StepDone();

  // Where it stood behind the last whole step, also in the middle of the next and after an error.
  // Batches that are kept are read again, not stored.
  Result<Json> Save() const;
  Status Restore(const Json& state);

  double waited_seconds() const { return batches_->waited_seconds(); }
  LimitingStage FindLimit() const { return batches_->FindLimit(); }

 private:
  Result<std::optional<TensorBatch>> NextOfKept();
  Status Keep();

  std::unique_ptr<DevicePrefetcher> batches_;
  std::optional<int64_t> again_;
  std::vector<TensorBatch> kept_;
  int64_t given_ = 0;  // of the kept ones, in all
  int64_t done_ = 0;   // of those, in whole steps
};

}  // namespace stoker
