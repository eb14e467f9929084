#include "stoker/train/optimizers/adagrad.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_sqrt.h>
#include <ATen/ops/_fused_adagrad.h>

#include "stoker/train/optimizers/grouped_optimizer_internal.h"

namespace stoker {
namespace {

class AdagradOptimizer final : public GroupedOptimizer {
 public:
  AdagradOptimizer(const Adagrad& options, const TrainedParameters& parameters)
      : GroupedOptimizer(parameters, {"sum"}), options_(options) {}

  // Without a gradient nothing moves, but for the decay.
  RowUpdates row_updates() const override {
    return options_.weight_decay == 0 ? RowUpdates::kSame : RowUpdates::kNone;
  }

 private:
  void StepGroup(ParameterGroup& group) override {
    const double decay = options_.weight_decay * group.decay_scale;
    if (group.parameters.front().is_cpu()) {
      at::_fused_adagrad_(group.parameters, group.gradients, group.states[0], group.StepTensors(),
                          group.lr, options_.lr_decay, decay, options_.eps, /*maximize=*/false);
      return;
    }
    const double rate = group.lr / (1 + static_cast<double>(group.step - 1) * options_.lr_decay);
    const auto gradients = at::_foreach_add(group.gradients, group.parameters, decay);
    at::_foreach_addcmul_(group.states[0], gradients, gradients);
    auto root = at::_foreach_sqrt(group.states[0]);
    at::_foreach_add_(root, options_.eps);
    at::_foreach_addcdiv_(group.parameters, gradients, root, -rate);
  }

  const Adagrad options_;
};

}  // namespace

void Adagrad::Describe(OptionTable<Adagrad>& table) {
  table
      .Field("eps", &Adagrad::eps, "added to the square root, against division by zero",
             MoreThan(0))
      .Field("lr_decay", &Adagrad::lr_decay, "the rate is divided by 1 + (t - 1) times this",
             AtLeast(0))
      .Field("weight_decay", &Adagrad::weight_decay, "times the weight, added to the gradient",
             AtLeast(0));
}

Result<std::unique_ptr<Optimizer>> Adagrad::Build(const TrainedParameters& parameters) const {
  return std::make_unique<AdagradOptimizer>(*this, parameters);
}

}  // namespace stoker
