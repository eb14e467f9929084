// An optimizer of your own: `optimizer: {sign_descent: {momentum: 0.9}}`.
#pragma once

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>

#include "stoker/run/registry.h"
#include "stoker/train/core/named_tensor.h"
#include "stoker/train/core/parameters.h"

namespace own {

//   m = momentum m + (1 - momentum) g;  p -= lr sign(m)
class SignDescentOptimizer final : public stoker::Optimizer {
 public:
  SignDescentOptimizer(double momentum, const stoker::TrainedParameters& parameters)
      : momentum_(momentum), parameters_(parameters) {
    for (const stoker::TrainedParameter& parameter : parameters_) {
      means_.push_back({parameter.name + ".mean", at::zeros_like(parameter.tensor.detach())});
    }
  }

  void Step(const stoker::ScheduleValue& now) override {
    const at::NoGradGuard no_gradients;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const stoker::TrainedParameter& parameter = parameters_[i];
      if (!parameter.tensor.grad().defined() || parameter.lr_scale == 0) continue;
      at::Tensor& mean = means_[i].tensor;
      mean.lerp_(parameter.tensor.grad(), 1 - now.momentum.value_or(momentum_));
      parameter.tensor.sub_(mean.sign(), now.lr * parameter.lr_scale);
    }
  }

  // What a resumed run needs.
  stoker::NamedTensors State() const override { return means_; }

 private:
  const double momentum_;
  const stoker::TrainedParameters parameters_;
  stoker::NamedTensors means_;
};

struct SignDescent {
  static constexpr std::string_view kName = "sign_descent";
  static constexpr std::string_view kHelp = "Every weight moves as far, against its mean gradient.";
  double momentum = 0.9;

  static void Describe(stoker::OptionTable<SignDescent>& table) {
    table.Field("momentum", &SignDescent::momentum, "share of the old mean in the new one",
                stoker::Between(0, 0.9999));
  }
  stoker::Result<std::unique_ptr<stoker::Optimizer>> Build(
      const stoker::TrainedParameters& parameters) const {
    return std::make_unique<SignDescentOptimizer>(momentum, parameters);
  }
};

}  // namespace own
