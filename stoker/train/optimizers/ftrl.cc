#include "stoker/train/optimizers/ftrl.h"

#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include "stoker/train/kernels/optimizer_kernel.h"
#include "stoker/train/optimizers/grouped_optimizer_internal.h"

namespace stoker {
namespace {

class FtrlOptimizer final : public GroupedOptimizer {
 public:
  FtrlOptimizer(const Ftrl& options, const TrainedParameters& parameters)
      : GroupedOptimizer(parameters, {"square_sum", "linear"}), options_(options) {}

  // Without a gradient all stays as it is.
  RowUpdates row_updates() const override { return RowUpdates::kSame; }

 private:
  void StepGroup(ParameterGroup& group) override {
    if (group.lr == 0) return;  // nothing moves, and the curvature would be infinite
    if (OnPlainFloats(group)) {
      StepFloats(group, {.lr = static_cast<float>(group.lr),
                         .l1 = static_cast<float>(options_.l1),
                         .l2 = static_cast<float>(options_.l2),
                         .beta = static_cast<float>(options_.beta),
                         .initial = static_cast<float>(options_.initial)});
      return;
    }
    for (size_t i = 0; i < group.parameters.size(); ++i)
      StepOnTorch(group.parameters[i], group.gradients[i], group.states[0][i], group.states[1][i],
                  group.lr);
  }

  static void StepFloats(const ParameterGroup& group, const FtrlConstants& constants) {
    ForEachPiece(PiecesOf(group.parameters), PieceOrder::kForwards,
                 [&](size_t, const TensorPiece& piece) {
                   FtrlApply(ValuesOf(group.parameters, piece), ValuesOf(group.gradients, piece),
                             ValuesOf(group.states[0], piece), ValuesOf(group.states[1], piece),
                             static_cast<size_t>(piece.size), constants);
                 });
  }

  void StepOnTorch(at::Tensor& p, const at::Tensor& g, at::Tensor& s, at::Tensor& z,
                   double lr) const {
    const at::Tensor still = g.eq(0);
    s.addcmul_(g, g);
    const at::Tensor curvature = ((s + options_.initial).sqrt() + options_.beta) / lr + options_.l2;
    const at::Tensor of_weight = -(curvature * p + p.sign() * options_.l1);
    z.copy_(at::where(p.eq(0).logical_or(still), z, of_weight) + g);
    const at::Tensor moved = (z.sign() * options_.l1 - z) / curvature;
    const at::Tensor weight = at::where(z.abs().le(options_.l1), at::zeros_like(p), moved);
    p.copy_(at::where(still, p, weight));
  }

  const Ftrl options_;
};

}  // namespace

void Ftrl::Describe(OptionTable<Ftrl>& table) {
  const OptionRange strength{.low = 0, .high = 1e9};
  table.Field("l1", &Ftrl::l1, "a weight whose gradients add up to less stays exactly 0", strength)
      .Field("l2", &Ftrl::l2, "draws weights towards 0", strength)
      .Field("beta", &Ftrl::beta, "added to the root: makes the first steps shorter", strength)
      .Field("initial", &Ftrl::initial, "what the sum of squares begins at",
             OptionRange{.low = 1e-20, .high = 1e9});
}

Result<std::unique_ptr<Optimizer>> Ftrl::Build(const TrainedParameters& parameters) const {
  return std::make_unique<FtrlOptimizer>(*this, parameters);
}

}  // namespace stoker
