#include "stoker/train/optimizers/lamb.h"

#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <cmath>

#include "stoker/train/kernels/optimizer_kernel.h"
#include "stoker/train/optimizers/adam_internal.h"
#include "stoker/train/optimizers/grouped_optimizer_internal.h"

namespace stoker {
namespace {

// The numbers of one step of one group.
struct LambNumbers {
  double beta1 = 0, beta2 = 0;
  double correction1 = 1, correction2 = 1;
  double decay = 0;
};

class LambOptimizer final : public GroupedOptimizer {
 public:
  LambOptimizer(const Lamb& options, const TrainedParameters& parameters)
      : GroupedOptimizer(parameters, {"exp_avg", "exp_avg_sq"}), options_(options) {}

 private:
  void StepGroup(ParameterGroup& group) override {
    const auto t = static_cast<double>(group.step);
    LambNumbers numbers{.beta1 = group.momentum.value_or(options_.betas[0]),
                        .beta2 = options_.betas[1],
                        .decay = options_.weight_decay * group.decay_scale};
    numbers.correction1 = 1 / (1 - std::pow(numbers.beta1, t));
    numbers.correction2 = 1 / (1 - std::pow(numbers.beta2, t));
    if (OnPlainFloats(group)) {
      StepFloats(group, numbers);
    } else {
      StepOnTorch(group, numbers);
    }
  }

  void StepFloats(const ParameterGroup& group, const LambNumbers& numbers) const {
    const LambConstants constants{.beta1 = static_cast<float>(numbers.beta1),
                                  .beta2 = static_cast<float>(numbers.beta2),
                                  .correction1 = static_cast<float>(numbers.correction1),
                                  .correction2 = static_cast<float>(numbers.correction2),
                                  .eps = static_cast<float>(options_.eps),
                                  .weight_decay = static_cast<float>(numbers.decay)};
    for (const std::vector<TensorPiece>& run : RunsOf(group.parameters)) {
      StepRun(group, constants, run);
    }
  }

  // Leaves the directions where the gradients were.
  static void StepRun(const ParameterGroup& group, const LambConstants& constants,
                      const std::vector<TensorPiece>& pieces) {
    std::vector<SquareSums> sums(pieces.size());
    ForEachPiece(pieces, PieceOrder::kForwards, [&](size_t i, const TensorPiece& piece) {
      sums[i] = LambDirections(ValuesOf(group.parameters, piece), ValuesOf(group.gradients, piece),
                               ValuesOf(group.states[0], piece), ValuesOf(group.states[1], piece),
                               static_cast<size_t>(piece.size), constants);
    });
    const std::vector<double> ratios = Ratios(group, pieces, sums, constants.weight_decay);
    ForEachPiece(pieces, PieceOrder::kBackwards, [&](size_t, const TensorPiece& piece) {
      SubtractScaled(ValuesOf(group.parameters, piece), ValuesOf(group.gradients, piece),
                     static_cast<size_t>(piece.size),
                     static_cast<float>(group.lr * ratios[piece.tensor]));
    });
  }

  static std::vector<double> Ratios(const ParameterGroup& group,
                                    const std::vector<TensorPiece>& pieces,
                                    const std::vector<SquareSums>& sums, double decay) {
    std::vector<SquareSums> totals(group.parameters.size());
    for (size_t i = 0; i < pieces.size(); ++i) {
      totals[pieces[i].tensor].first += sums[i].first;
      totals[pieces[i].tensor].second += sums[i].second;
    }
    std::vector<double> ratios;
    for (const SquareSums& total : totals) {
      const bool both = total.first > 0 && total.second > 0;
      ratios.push_back(decay != 0 && both ? std::sqrt(total.first) / std::sqrt(total.second) : 1);
    }
    return ratios;
  }

  // Nothing is read back, so a device need not be waited for.
  void StepOnTorch(ParameterGroup& group, const LambNumbers& numbers) const {
    for (size_t i = 0; i < group.parameters.size(); ++i) {
      at::Tensor& parameter = group.parameters[i];
      const at::Tensor& gradient = group.gradients[i];
      at::Tensor &m = group.states[0][i], &v = group.states[1][i];
      m.lerp_(gradient, 1 - numbers.beta1);
      v.mul_(numbers.beta2).addcmul_(gradient, gradient, 1 - numbers.beta2);
      const at::Tensor root = (v * numbers.correction2).sqrt_().add_(options_.eps);
      at::Tensor u = (m * numbers.correction1).div_(root).add_(parameter, numbers.decay);
      if (numbers.decay != 0) {
        const at::Tensor p = at::linalg_vector_norm(parameter), n = at::linalg_vector_norm(u);
        u.mul_(at::where(p.gt(0).logical_and(n.gt(0)), p / n, 1));
      }
      parameter.sub_(u, group.lr);
    }
  }

  const Lamb options_;
};

}  // namespace

void Lamb::Describe(OptionTable<Lamb>& table) {
  DescribeAdam<Lamb>(table).Field("weight_decay", &Lamb::weight_decay,
                                  "times the weight, added to the direction", AtLeast(0));
}

Result<std::unique_ptr<Optimizer>> Lamb::Build(const TrainedParameters& parameters) const {
  STOKER_RETURN_IF_ERROR(CheckBetas(kName, betas));
  return std::make_unique<LambOptimizer>(*this, parameters);
}

}  // namespace stoker
