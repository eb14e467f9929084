#include "stoker/train/step/clipping.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>

#include <cmath>

#include "stoker/train/core/row_gradient.h"
#include "stoker/train/kernels/tensor_pieces.h"

namespace stoker {
namespace {

constexpr double kNormEps = 1e-6;
constexpr double kLeastWeights = 1e-3;

// Norms over all dimensions but the first, which stays; of a vector, over it all.
at::Tensor UnitNorms(const at::Tensor& tensor) {
  std::vector<int64_t> dims;
  for (int64_t dim = tensor.dim() > 1 ? 1 : 0; dim < tensor.dim(); ++dim) dims.push_back(dim);
  return at::linalg_vector_norm(tensor, 2, dims, /*keepdim=*/true);
}

void ClipUnits(double share, const at::Tensor& parameter, at::Tensor& gradient) {
  const at::Tensor& all = parameter.grad();
  const at::Tensor units = IsOfRows(all) ? parameter.index_select(0, RowsOf(all)) : parameter;
  const at::Tensor most = UnitNorms(units).clamp_min(kLeastWeights) * share;
  const at::Tensor norms = UnitNorms(gradient);
  gradient.mul_(at::where(norms.gt(most), most / norms.clamp_min(kNormEps), 1));
}

void ClipNorm(double most, std::vector<at::Tensor>& gradients) {
  if (ArePlainFloats(gradients)) {
    const double factor = most / (std::sqrt(SumSquares(gradients)) + kNormEps);
    // Also for a norm that is a NaN.
    if (!(factor >= 1)) at::_foreach_mul_(gradients, factor);
    return;
  }
  // Not read back, so a device need not be waited for.
  const at::Tensor norm = at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients)));
  at::_foreach_mul_(gradients, (most / (norm + kNormEps)).clamp_max(1));
}

}  // namespace

void ClipGradients(const ClipOptions& options, const std::vector<at::Tensor>& parameters) {
  if (!options.norm && !options.value && !options.adaptive) return;
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : parameters) {
    if (!parameter.grad().defined()) continue;
    at::Tensor gradient = ValuesOfGradient(parameter.grad());
    if (options.adaptive) ClipUnits(*options.adaptive, parameter, gradient);
    if (options.value) gradient.clamp_(-*options.value, *options.value);
    gradients.push_back(std::move(gradient));
  }
  if (options.norm && !gradients.empty()) ClipNorm(*options.norm, gradients);
}

}  // namespace stoker
