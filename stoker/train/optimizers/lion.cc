#include "stoker/train/optimizers/lion.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_sign.h>

#include "stoker/train/kernels/optimizer_kernel.h"
#include "stoker/train/optimizers/adam_internal.h"
#include "stoker/train/optimizers/grouped_optimizer_internal.h"

namespace stoker {
namespace {

class LionOptimizer final : public GroupedOptimizer {
 public:
  LionOptimizer(const Lion& options, const TrainedParameters& parameters)
      : GroupedOptimizer(parameters, {"exp_avg"}), options_(options) {}

 private:
  void StepGroup(ParameterGroup& group) override {
    const double beta1 = group.momentum.value_or(options_.betas[0]);
    const double decay = options_.weight_decay * group.decay_scale;
    if (!OnPlainFloats(group)) return StepOnTorch(group, beta1, decay);
    const LionConstants constants{.lr = static_cast<float>(group.lr),
                                  .beta1 = static_cast<float>(beta1),
                                  .beta2 = static_cast<float>(options_.betas[1]),
                                  .weight_decay = static_cast<float>(decay)};
    ForEachPiece(
        PiecesOf(group.parameters), PieceOrder::kForwards, [&](size_t, const TensorPiece& piece) {
          LionApply(ValuesOf(group.parameters, piece), ValuesOf(group.gradients, piece),
                    ValuesOf(group.states[0], piece), static_cast<size_t>(piece.size), constants);
        });
  }

  void StepOnTorch(ParameterGroup& group, double beta1, double decay) const {
    auto direction = at::_foreach_lerp(group.states[0], group.gradients, 1 - beta1);
    at::_foreach_sign_(direction);
    at::_foreach_add_(direction, group.parameters, decay);
    at::_foreach_add_(group.parameters, direction, -group.lr);
    at::_foreach_lerp_(group.states[0], group.gradients, 1 - options_.betas[1]);
  }

  const Lion options_;
};

}  // namespace

void Lion::Describe(OptionTable<Lion>& table) {
  table
      .Field("betas", &Lion::betas,
             "share of the momentum in the direction, and of the old in the new momentum",
             OptionRange{.low = 0, .high = 0.999999})
      .Field("weight_decay", &Lion::weight_decay,
             "share of each weight taken away a step, times the learning rate", AtLeast(0));
}

Result<std::unique_ptr<Optimizer>> Lion::Build(const TrainedParameters& parameters) const {
  STOKER_RETURN_IF_ERROR(CheckBetas(kName, betas));
  return std::make_unique<LionOptimizer>(*this, parameters);
}

}  // namespace stoker
