#include "stoker/train/optimizers/adam_internal.h"

#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>

#include "stoker/train/optimizers/grouped_optimizer_internal.h"

namespace stoker {
namespace {

class AdamOptimizer final : public GroupedOptimizer {
 public:
  AdamOptimizer(const AdamSettings& settings, const TrainedParameters& parameters)
      : GroupedOptimizer(parameters, {"exp_avg", "exp_avg_sq"}), settings_(settings) {}

  RowUpdates row_updates() const override {
    return settings_.lazy ? RowUpdates::kLazy : RowUpdates::kNone;
  }

 private:
  void StepGroup(ParameterGroup& group) override {
    const double beta1 = group.momentum.value_or(settings_.betas[0]);
    const double decay = settings_.weight_decay * group.decay_scale;
    const auto step = [&](auto fused) {
      fused(group.parameters, group.gradients, group.states[0], group.states[1],
            std::vector<at::Tensor>(), group.StepTensors(), group.lr, beta1, settings_.betas[1],
            decay, settings_.eps, /*amsgrad=*/false, /*maximize=*/false);
    };
    if (settings_.decoupled) {
      step([](const auto&... all) { at::_fused_adamw_(all...); });
    } else {
      step([](const auto&... all) { at::_fused_adam_(all...); });
    }
  }

  const AdamSettings settings_;
};

}  // namespace

Status CheckBetas(std::string_view name, const std::vector<double>& betas) {
  if (betas.size() == 2) return OkStatus();
  return InvalidArgument("{}: betas has {} values; it must have two, such as [0.9, 0.999]", name,
                         betas.size());
}

Result<std::unique_ptr<Optimizer>> BuildAdam(std::string_view name, const AdamSettings& settings,
                                             const TrainedParameters& parameters) {
  STOKER_RETURN_IF_ERROR(CheckBetas(name, settings.betas));
  return std::make_unique<AdamOptimizer>(settings, parameters);
}

}  // namespace stoker
