#include "stoker/train/optimizers/rmsprop.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sqrt.h>

#include "stoker/train/kernels/optimizer_kernel.h"
#include "stoker/train/optimizers/grouped_optimizer_internal.h"

namespace stoker {
namespace {

class RmspropOptimizer final : public GroupedOptimizer {
 public:
  RmspropOptimizer(const Rmsprop& options, const TrainedParameters& parameters)
      : GroupedOptimizer(parameters, {"square_avg", "momentum"}), options_(options) {}

 private:
  void StepGroup(ParameterGroup& group) override {
    const double momentum = options_.momentum > 0 ? group.momentum.value_or(options_.momentum) : 0;
    const double decay = options_.weight_decay * group.decay_scale;
    if (OnPlainFloats(group)) {
      StepFloats(group, {.lr = static_cast<float>(group.lr),
                         .alpha = static_cast<float>(options_.alpha),
                         .eps = static_cast<float>(options_.eps),
                         .momentum = static_cast<float>(momentum),
                         .weight_decay = static_cast<float>(decay)});
    } else {
      StepOnTorch(group, momentum, decay);
    }
  }

  static void StepFloats(const ParameterGroup& group, const RmspropConstants& constants) {
    ForEachPiece(PiecesOf(group.parameters), PieceOrder::kForwards,
                 [&](size_t, const TensorPiece& piece) {
                   RmspropApply(ValuesOf(group.parameters, piece), ValuesOf(group.gradients, piece),
                                ValuesOf(group.states[0], piece), ValuesOf(group.states[1], piece),
                                static_cast<size_t>(piece.size), constants);
                 });
  }

  void StepOnTorch(ParameterGroup& group, double momentum, double decay) const {
    std::vector<at::Tensor>&square = group.states[0], &buffer = group.states[1];
    const auto gradients = at::_foreach_add(group.gradients, group.parameters, decay);
    at::_foreach_mul_(square, options_.alpha);
    at::_foreach_addcmul_(square, gradients, gradients, 1 - options_.alpha);
    auto root = at::_foreach_sqrt(square);
    at::_foreach_add_(root, options_.eps);
    at::_foreach_mul_(buffer, momentum);
    at::_foreach_addcdiv_(buffer, gradients, root);
    at::_foreach_add_(group.parameters, buffer, -group.lr);
  }

  const Rmsprop options_;
};

}  // namespace

void Rmsprop::Describe(OptionTable<Rmsprop>& table) {
  table
      .Field("alpha", &Rmsprop::alpha, "decay of the running mean of the gradient's square",
             Between(0, 1))
      .Field("eps", &Rmsprop::eps, "added to the square root, against division by zero",
             MoreThan(0))
      .Field("momentum", &Rmsprop::momentum, "share of the last step's direction kept",
             Between(0, 1))
      .Field("weight_decay", &Rmsprop::weight_decay, "times the weight, added to the gradient",
             AtLeast(0));
}

Result<std::unique_ptr<Optimizer>> Rmsprop::Build(const TrainedParameters& parameters) const {
  return std::make_unique<RmspropOptimizer>(*this, parameters);
}

}  // namespace stoker
