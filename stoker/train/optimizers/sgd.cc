#include "stoker/train/optimizers/sgd.h"

#include <ATen/ops/_fused_sgd.h>

#include "stoker/train/optimizers/grouped_optimizer_internal.h"

namespace stoker {
namespace {

class SgdOptimizer final : public GroupedOptimizer {
 public:
  SgdOptimizer(const Sgd& options, const TrainedParameters& parameters)
      : GroupedOptimizer(parameters, {"momentum"}), options_(options) {}

 private:
  void StepGroup(ParameterGroup& group) override {
    const double momentum = group.momentum.value_or(options_.momentum);
    // The kernel refuses buffers that it would not use.
    const std::vector<at::Tensor> none;
    at::_fused_sgd_(group.parameters, group.gradients, momentum == 0 ? none : group.states[0],
                    options_.weight_decay * group.decay_scale, momentum, group.lr,
                    options_.dampening, options_.nesterov, /*maximize=*/false,
                    /*is_first_step=*/group.step == 1);
  }

  const Sgd options_;
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

Result<std::unique_ptr<Optimizer>> Sgd::Build(const TrainedParameters& parameters) const {
  if (nesterov && (momentum == 0 || dampening != 0)) {
    return InvalidArgument(
        "sgd: nesterov needs a momentum above 0 and no dampening; they are {} and {}", momentum,
        dampening);
  }
  return std::make_unique<SgdOptimizer>(*this, parameters);
}

}  // namespace stoker
