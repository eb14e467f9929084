#include "stoker/train/optimizers/lars.h"

#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <cmath>

#include "stoker/train/kernels/optimizer_kernel.h"
#include "stoker/train/optimizers/grouped_optimizer_internal.h"

namespace stoker {
namespace {

constexpr double kEps = 1e-8;

class LarsOptimizer final : public GroupedOptimizer {
 public:
  LarsOptimizer(const Lars& options, const TrainedParameters& parameters)
      : GroupedOptimizer(parameters, {"momentum"}), options_(options) {}

 private:
  void StepGroup(ParameterGroup& group) override {
    const double momentum = group.momentum.value_or(options_.momentum);
    const double decay = options_.weight_decay * group.decay_scale;
    if (OnPlainFloats(group)) {
      StepFloats(group, momentum, decay);
    } else {
      StepOnTorch(group, momentum, decay);
    }
  }

  void StepFloats(const ParameterGroup& group, double momentum, double decay) const {
    for (const std::vector<TensorPiece>& run : RunsOf(group.parameters)) {
      StepRun(group, momentum, decay, run);
    }
  }

  void StepRun(const ParameterGroup& group, double momentum, double decay,
               const std::vector<TensorPiece>& pieces) const {
    std::vector<double> ratios(group.parameters.size(), 1);
    if (decay != 0) ratios = Ratios(group, pieces, decay);
    ForEachPiece(pieces, PieceOrder::kBackwards, [&](size_t, const TensorPiece& piece) {
      LarsApply(ValuesOf(group.parameters, piece), ValuesOf(group.gradients, piece),
                ValuesOf(group.states[0], piece), static_cast<size_t>(piece.size),
                {.lr = static_cast<float>(group.lr),
                 .momentum = static_cast<float>(momentum),
                 .ratio = static_cast<float>(ratios[piece.tensor]),
                 .weight_decay = static_cast<float>(decay)});
    });
  }

  std::vector<double> Ratios(const ParameterGroup& group, const std::vector<TensorPiece>& pieces,
                             double decay) const {
    std::vector<SquareSums> sums(pieces.size());
    ForEachPiece(pieces, PieceOrder::kForwards, [&](size_t i, const TensorPiece& piece) {
      sums[i] = SumSquares(ValuesOf(group.parameters, piece), ValuesOf(group.gradients, piece),
                           static_cast<size_t>(piece.size));
    });
    std::vector<SquareSums> totals(group.parameters.size());
    for (size_t i = 0; i < pieces.size(); ++i) {
      totals[pieces[i].tensor].first += sums[i].first;
      totals[pieces[i].tensor].second += sums[i].second;
    }
    std::vector<double> ratios;
    for (const SquareSums& total : totals) {
      const double p = std::sqrt(total.first), g = std::sqrt(total.second);
      ratios.push_back(p > 0 && g > 0 ? options_.trust * p / (g + decay * p + kEps) : 1);
    }
    return ratios;
  }

  // Nothing is read back, so a device need not be waited for.
  void StepOnTorch(ParameterGroup& group, double momentum, double decay) const {
    for (size_t i = 0; i < group.parameters.size(); ++i) {
      at::Tensor& parameter = group.parameters[i];
      at::Tensor direction = group.gradients[i].add(parameter, decay);
      if (decay != 0) {
        const at::Tensor p = at::linalg_vector_norm(parameter);
        const at::Tensor g = at::linalg_vector_norm(group.gradients[i]);
        const at::Tensor ratio = p * options_.trust / (g + p * decay + kEps);
        direction.mul_(at::where(p.gt(0).logical_and(g.gt(0)), ratio, 1));
      }
      group.states[0][i].mul_(momentum).add_(direction);
      parameter.sub_(group.states[0][i], group.lr);
    }
  }

  const Lars options_;
};

}  // namespace

void Lars::Describe(OptionTable<Lars>& table) {
  table.Field("momentum", &Lars::momentum, "share of the last step's direction kept", Between(0, 1))
      .Field("weight_decay", &Lars::weight_decay, "times the weight, added to the gradient",
             AtLeast(0))
      .Field("trust", &Lars::trust, "how far a parameter may move, as a share of its norm",
             MoreThan(0));
}

Result<std::unique_ptr<Optimizer>> Lars::Build(const TrainedParameters& parameters) const {
  return std::make_unique<LarsOptimizer>(*this, parameters);
}

}  // namespace stoker
