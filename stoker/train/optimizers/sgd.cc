#include "stoker/train/optimizers/sgd.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "stoker/train/named_tensor.h"

namespace stoker {
namespace {

struct SgdState {
  std::string name;
  at::Tensor parameter;
  at::Tensor momentum;  // laid out as the parameter
  at::Tensor started;   // bool scalar in CPU memory: whether `momentum` holds anything yet
};

class SgdOptimizer final : public Optimizer {
 public:
  SgdOptimizer(const Sgd& options, const NamedTensors& parameters) : options_(options) {
    for (const auto& [name, parameter] : parameters) {
      states_.push_back(
          {name, parameter, at::zeros_like(parameter.detach()), at::zeros({}, at::kBool)});
    }
  }

  void Step(const ScheduleValue& now) override {
    const at::NoGradGuard no_grad;
    // The kernel takes one flag for all, so those that are at their first step go apart.
    StepThose(/*started=*/true, now);
    StepThose(/*started=*/false, now);
    for (SgdState& state : states_) {
      if (state.parameter.grad().defined()) *state.started.data_ptr<bool>() = true;
    }
  }

  NamedTensors State() const override {
    NamedTensors all;
    for (const SgdState& state : states_) {
      all.push_back({state.name + ".momentum", state.momentum});
      all.push_back({state.name + ".started", state.started});
    }
    return all;
  }

 private:
  void StepThose(bool started, const ScheduleValue& now) {
    const double momentum = now.momentum.value_or(options_.momentum);
    std::vector<at::Tensor> parameters, gradients, momenta;
    for (const SgdState& state : states_) {
      const at::Tensor& gradient = state.parameter.grad();
      if (!gradient.defined() || *state.started.data_ptr<bool>() != started) continue;
      parameters.push_back(state.parameter);
      gradients.push_back(gradient);
      // The kernel refuses buffers that it would not use.
      if (momentum != 0) momenta.push_back(state.momentum);
    }
    if (parameters.empty()) return;
    at::_fused_sgd_(parameters, gradients, momenta, options_.weight_decay, momentum, now.lr,
                    options_.dampening, options_.nesterov, /*maximize=*/false,
                    /*is_first_step=*/!started);
  }

  const Sgd options_;
  std::vector<SgdState> states_;
};

}  // namespace

void Sgd::Describe(OptionTable<Sgd>& table) {
  table.Field("momentum", &Sgd::momentum, "share of the last step's direction kept", Between(0, 1))
      .Field("nesterov", &Sgd::nesterov, "look ahead along the momentum")
      .Field("dampening", &Sgd::dampening, "share of the gradient kept out of the momentum",
             Between(0, 1))
      .Field("weight_decay", &Sgd::weight_decay, "times the weight, added to the gradient",
             AtLeast(0));
}

Result<std::unique_ptr<Optimizer>> Sgd::Build(const NamedTensors& parameters) const {
  if (nesterov && (momentum == 0 || dampening != 0)) {
    return InvalidArgument(
        "sgd: nesterov needs a momentum above 0 and no dampening; they are {} and {}", momentum,
        dampening);
  }
  return std::make_unique<SgdOptimizer>(*this, parameters);
}

}  // namespace stoker
