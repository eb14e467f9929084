// LossLog: the losses of the steps since the last report. Reads them from the device as seldom as
// it can, and finds the step at which training broke.
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
  // Adds the loss of step `step`, a float scalar. In CPU memory it is read and checked at once; on
  // a device it is put off, so that no step waits for the device. Errors: those of Flush.
  Status Add(int64_t step, const at::Tensor& loss) {
    return loss.is_cpu() ? Count(step, loss.item<double>()) : PutOff(step, loss);
  }

  // The loss waits for Flush, or for kMostWaiting others, with which it is read in one copy.
  // Errors: those of Flush.
  Status PutOff(int64_t step, const at::Tensor& loss);
  static constexpr size_t kMostWaiting = 1024;

  // Reads what waits. Errors: kFailedPrecondition for a loss that is NaN or infinite, with its
  // step.
  Status Flush();

  // The mean since the last TakeMean, after a Flush; NaN where there was none.
  double TakeMean();
  double last() const { return last_; }
  // Whether there was none since, after a Flush.
  bool empty() const { return count_ == 0; }

  // The running mean, so that a resumed run reports the same figures.
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
