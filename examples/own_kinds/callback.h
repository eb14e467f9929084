// A callback of your own: `callbacks: [{weight_norm: {every: 10}}]`.
#pragma once

#include <ATen/core/grad_mode.h>
#include <ATen/ops/dot.h>

#include <cmath>

#include "stoker/run/registry.h"
#include "stoker/train/core/callback.h"

namespace own {

// Measures how large the weights are, which then stands in metrics.jsonl and TensorBoard.
class WeightNormCallback final : public stoker::Callback {
 public:
  explicit WeightNormCallback(int64_t every) : every_(every) {}

  stoker::Status OnStep(stoker::RunView& run, const at::Tensor& /*loss*/) override {
    if (run.step % every_ != 0) return stoker::OkStatus();
    const at::NoGradGuard no_gradients;
    double sum = 0;
    for (const at::Tensor& weights : run.model.parameters()) {
      const at::Tensor values = weights.flatten();
      sum += at::dot(values, values).item<double>();
    }
    run.figures["weight_norm"] = std::sqrt(sum);
    return stoker::OkStatus();
  }

 private:
  const int64_t every_;
};

struct WeightNorm {
  static constexpr std::string_view kName = "weight_norm";
  static constexpr std::string_view kHelp = "Measures how large the weights are.";
  int64_t every = 100;

  static void Describe(stoker::OptionTable<WeightNorm>& table) {
    table.Field("every", &WeightNorm::every, "steps between two measurements", stoker::AtLeast(1));
  }
  stoker::Result<std::shared_ptr<stoker::Callback>> Build() const {
    return std::make_shared<WeightNormCallback>(every);
  }
};

}  // namespace own
