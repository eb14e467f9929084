#include "stoker/train/optimizers/muon.h"

#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/mm.h>

#include <algorithm>
#include <cmath>

#include "stoker/train/optimizers/adam_internal.h"
#include "stoker/train/optimizers/grouped_optimizer_internal.h"

namespace stoker {
namespace {

constexpr int kIterations = 5;
// The odd polynomial a x + b x^3 + c x^5 that takes (0, 1] near 1 fastest.
constexpr double kA = 3.4445, kB = -4.775, kC = 2.0315;
constexpr double kNormEpsilon = 1e-7;

at::Tensor Orthogonalized(const at::Tensor& matrix) {
  const bool tall = matrix.size(0) > matrix.size(1);
  at::Tensor x = tall ? matrix.t() : matrix;
  if (!x.is_cpu()) x = x.to(at::kBFloat16);
  x = x / at::linalg_vector_norm(x).clamp_min(kNormEpsilon);
  for (int i = 0; i < kIterations; ++i) {
    const at::Tensor square = at::mm(x, x.t());
    const at::Tensor polynomial = square * kB + at::mm(square, square) * kC;
    x = x * kA + at::mm(polynomial, x);
  }
  return (tall ? x.t() : x).to(matrix.scalar_type());
}

class MatrixOptimizer final : public GroupedOptimizer {
 public:
  MatrixOptimizer(const Muon& options, const TrainedParameters& parameters)
      : GroupedOptimizer(parameters, {"momentum"}), options_(options) {}

 private:
  void StepGroup(ParameterGroup& group) override {
    const double momentum = group.momentum.value_or(options_.momentum);
    const double decay = options_.weight_decay * group.decay_scale;
    for (size_t i = 0; i < group.parameters.size(); ++i) {
      at::Tensor& parameter = group.parameters[i];
      at::Tensor& buffer = group.states[0][i];
      buffer.lerp_(group.gradients[i], 1 - momentum);
      const at::Tensor direction =
          options_.nesterov ? group.gradients[i].lerp(buffer, momentum) : buffer;
      const at::Tensor matrix = direction.reshape({direction.size(0), -1});
      const at::Tensor update = Orthogonalized(matrix).reshape(parameter.sizes());
      parameter.mul_(1 - group.lr * decay);
      parameter.sub_(update, group.lr * ScaleOf(matrix));
    }
  }

  double ScaleOf(const at::Tensor& matrix) const {
    const auto rows = static_cast<double>(matrix.size(0));
    const auto columns = static_cast<double>(matrix.size(1));
    if (options_.scale == "rms") return 0.2 * std::sqrt(std::max(rows, columns));
    return std::sqrt(std::max(1.0, rows / columns));
  }

  const Muon options_;
};

class MuonOptimizer final : public Optimizer {
 public:
  MuonOptimizer(std::unique_ptr<Optimizer> matrices, std::unique_ptr<Optimizer> others)
      : matrices_(std::move(matrices)), others_(std::move(others)) {}

  void Step(const ScheduleValue& now) override {
    matrices_->Step(now);
    others_->Step({.lr = now.lr, .momentum = {}});
  }

  NamedTensors State() const override {
    NamedTensors all = matrices_->State();
    for (NamedTensor& tensor : others_->State()) all.push_back(std::move(tensor));
    return all;
  }

 private:
  const std::unique_ptr<Optimizer> matrices_;
  const std::unique_ptr<Optimizer> others_;
};

}  // namespace

void Muon::Describe(OptionTable<Muon>& table) {
  table.Field("momentum", &Muon::momentum, "share of the last step's direction kept", Between(0, 1))
      .Field("nesterov", &Muon::nesterov, "look ahead along the momentum")
      .Field("weight_decay", &Muon::weight_decay,
             "share of each weight taken away a step, times the learning rate", AtLeast(0))
      .Field("scale", &Muon::scale, "whether rates are as of adamw or as first published",
             OneOf{{"rms", "original"}});
  DescribeAdam<Muon>(table);
}

Result<std::unique_ptr<Optimizer>> Muon::Build(const TrainedParameters& parameters) const {
  TrainedParameters matrices, others;
  for (const TrainedParameter& parameter : parameters) {
    (parameter.tensor.dim() >= 2 ? matrices : others).push_back(parameter);
  }
  STOKER_ASSIGN_OR_RETURN(
      auto adamw,
      BuildAdam(kName,
                {.betas = betas, .eps = eps, .weight_decay = weight_decay, .decoupled = true},
                others));
  return std::make_unique<MuonOptimizer>(std::make_unique<MatrixOptimizer>(*this, matrices),
                                         std::move(adamw));
}

}  // namespace stoker
