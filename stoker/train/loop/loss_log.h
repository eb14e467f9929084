// LossLog: the losses of the steps since the last report. Reads them from the device as rarely as
// possible, and finds the step at which training broke.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"

namespace stoker {

// One thread at a time.
class LossLog {
 public:
  // Adds the loss of step `step`, a float scalar. Reads and checks one in CPU memory at once;
  // defers one on a device, so that no step waits for the device. Errors: those of Flush.
  Status Add(int64_t step, const at::Tensor& loss) {
    return loss.is_cpu() ? Count(step, loss.item<double>()) : PutOff(step, loss);
  }

  // Defers the loss until Flush, or until kMostWaiting are deferred, which are read in one copy.
  // Errors: those of Flush.
  Status PutOff(int64_t step, const at::Tensor& loss);
  static constexpr size_t kMostWaiting = 1024;

  // Reads the deferred losses. Errors: kFailedPrecondition for a loss that is NaN or infinite, with
  // its step.
  Status Flush();

  // Returns the mean since the last Clear; NaN if there was no loss. Call Flush first.
  double mean() const;
  void Clear();
  double last() const { return last_; }
  // Returns whether there was no loss since. Call Flush first.
  bool empty() const { return count_ == 0; }

  // Returns the running mean, so that a resumed run reports the same figures.
  Json Save() const;
  Status Restore(const Json& state);

 private:
  Status Count(int64_t step, double loss);

  std::vector<at::Tensor> waiting_;     // on the device
  std::vector<int64_t> waiting_steps_;  // as many
  double sum_ = 0;
  int64_t count_ = 0;
  double last_ = 0;
};

}  // namespace stoker
