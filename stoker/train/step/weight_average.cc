#include "stoker/train/step/weight_average.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

#include "stoker/run/average_times.h"

namespace stoker {

double EmaDecay(const AverageOptions& options, int64_t n) {
  const double s = static_cast<double>(n - 1);
  return std::min(options.decay, 1 - std::pow(1 + s / options.gamma, -options.power));
}

WeightAverage::WeightAverage(const AverageOptions& options, const SchedulePlan& plan,
                             const Model& model)
    : options_(options), updates_(at::zeros({}, at::kLong)) {
  if (options.kind == "none" || plan.total_steps == 0) return;
  const AverageTimes times(options, plan);
  first_ = times.first;
  every_ = times.every;
  weights_ = StateOf(model);
  for (const NamedTensor& weight : weights_) averages_.push_back(weight.tensor.detach().clone());
}

void WeightAverage::Observe(int64_t step) {
  if (!kept() || step < first_ || step % every_ != 0) return;
  const at::NoGradGuard no_grad;
  const int64_t n = ++*updates_.data_ptr<int64_t>();
  const double share =
      options_.kind == "swa" ? 1 / static_cast<double>(n) : 1 - EmaDecay(options_, n);
  std::vector<at::Tensor> averages, weights;
  for (size_t i = 0; i < averages_.size(); ++i) {
    const at::Tensor weight = weights_[i].tensor.detach();
    if (!weight.is_floating_point() || share == 1) {
      averages_[i].copy_(weight);
    } else {
      averages.push_back(averages_[i]);
      weights.push_back(weight);
    }
  }
  if (!averages.empty()) at::_foreach_lerp_(averages, weights, share);
}

// The tensors that model and optimizer hold stay the same, only their memory is another's.
void WeightAverage::Exchange() {
  for (size_t i = 0; i < averages_.size(); ++i) {
    const at::Tensor weights = weights_[i].tensor.detach();
    weights_[i].tensor.set_data(averages_[i]);
    averages_[i] = weights;
  }
}

NamedTensors WeightAverage::Averages() const {
  NamedTensors all;
  for (size_t i = 0; i < averages_.size(); ++i) all.push_back({weights_[i].name, averages_[i]});
  return all;
}

WeightAverage::Use::Use(WeightAverage* average)
    : average_(average->kept() && average->updates().item<int64_t>() > 0 ? average : nullptr) {
  if (average_ != nullptr) average_->Exchange();
}

WeightAverage::Use::~Use() {
  if (average_ != nullptr) average_->Exchange();
}

}  // namespace stoker
