#include "stoker/train/loop/loss_log.h"

#include <ATen/ops/stack.h>

#include <cmath>
#include <limits>
#include <utility>

#include "stoker/device/torch_error.h"

namespace stoker {

Status LossLog::PutOff(int64_t step, const at::Tensor& loss) {
  waiting_.push_back(loss);
  waiting_steps_.push_back(step);
  return waiting_.size() < kMostWaiting ? OkStatus() : Flush();
}

Status LossLog::Flush() {
  if (waiting_.empty()) return OkStatus();
  at::Tensor losses;
  STOKER_RETURN_IF_ERROR(CatchTorchErrors(
      [&] { losses = at::stack(waiting_).to(at::kCPU).to(at::kDouble).contiguous(); }));
  waiting_.clear();
  const std::vector<int64_t> steps = std::exchange(waiting_steps_, {});
  for (size_t i = 0; i < steps.size(); ++i) {
    STOKER_RETURN_IF_ERROR(Count(steps[i], losses.data_ptr<double>()[i]));
  }
  return OkStatus();
}

Status LossLog::Count(int64_t step, double loss) {
  last_ = loss;
  if (!std::isfinite(loss)) return FailedPrecondition("step {}: the loss is {}", step, loss);
  sum_ += loss;
  ++count_;
  return OkStatus();
}

double LossLog::mean() const {
  return count_ == 0 ? std::numeric_limits<double>::quiet_NaN()
                     : sum_ / static_cast<double>(count_);
}

void LossLog::Clear() {
  sum_ = 0;
  count_ = 0;
}

Json LossLog::Save() const { return {{"sum", sum_}, {"count", count_}}; }

Status LossLog::Restore(const Json& state) {
  const Json sum = state.is_object() ? state.value("sum", Json()) : Json();
  const Json count = state.is_object() ? state.value("count", Json()) : Json();
  if (!sum.is_number() || !count.is_number_integer()) {
    return DataLoss("the running loss is missing");
  }
  sum_ = sum.get<double>();
  count_ = count.get<int64_t>();
  return OkStatus();
}

}  // namespace stoker
