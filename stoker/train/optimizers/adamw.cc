#include "stoker/train/optimizers/adamw.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "stoker/train/named_tensor.h"

namespace stoker {
namespace {

struct AdamwState {
  std::string name;
  at::Tensor parameter;
  at::Tensor exp_avg, exp_avg_sq;  // laid out as the parameter
  at::Tensor step;                 // float scalar: what the fused kernel wants
};

class AdamwOptimizer final : public Optimizer {
 public:
  AdamwOptimizer(const Adamw& options, const NamedTensors& parameters) : options_(options) {
    for (const auto& [name, parameter] : parameters) {
      const at::Tensor values = parameter.detach();
      states_.push_back({name, parameter, at::zeros_like(values), at::zeros_like(values),
                         at::zeros({}, values.options().dtype(at::kFloat))});
    }
  }

  void Step(const ScheduleValue& now) override {
    const at::NoGradGuard no_grad;
    std::vector<at::Tensor> parameters, gradients, exp_avgs, exp_avg_sqs, steps;
    for (const AdamwState& state : states_) {
      if (!state.parameter.grad().defined()) continue;
      parameters.push_back(state.parameter);
      gradients.push_back(state.parameter.grad());
      exp_avgs.push_back(state.exp_avg);
      exp_avg_sqs.push_back(state.exp_avg_sq);
      steps.push_back(state.step);
    }
    if (parameters.empty()) return;
    at::_foreach_add_(steps, 1);
    at::_fused_adamw_(parameters, gradients, exp_avgs, exp_avg_sqs, /*max_exp_avg_sqs=*/{}, steps,
                      now.lr, now.momentum.value_or(options_.betas[0]), options_.betas[1],
                      options_.weight_decay, options_.eps, /*amsgrad=*/false, /*maximize=*/false);
  }

  NamedTensors State() const override {
    NamedTensors all;
    for (const AdamwState& state : states_) {
      all.push_back({state.name + ".exp_avg", state.exp_avg});
      all.push_back({state.name + ".exp_avg_sq", state.exp_avg_sq});
      all.push_back({state.name + ".step", state.step});
    }
    return all;
  }

 private:
  const Adamw options_;
  std::vector<AdamwState> states_;
};

}  // namespace

void Adamw::Describe(OptionTable<Adamw>& table) {
  table
      .Field("betas", &Adamw::betas,
             "decay of the running means of the gradient and of its square, each a step",
             OptionRange{.low = 0, .high = 0.999999})
      .Field("eps", &Adamw::eps, "added to the square root, against division by zero", MoreThan(0))
      .Field("weight_decay", &Adamw::weight_decay,
             "share of each weight taken away a step, times the learning rate", AtLeast(0));
}

Result<std::unique_ptr<Optimizer>> Adamw::Build(const NamedTensors& parameters) const {
  if (betas.size() != 2) {
    return InvalidArgument("adamw: betas has {} values; it must have two, such as [0.9, 0.999]",
                           betas.size());
  }
  return std::make_unique<AdamwOptimizer>(*this, parameters);
}

}  // namespace stoker
