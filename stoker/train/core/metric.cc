#include "stoker/train/core/metric.h"

#include <ATen/ops/scalar_tensor.h>

namespace stoker {

at::Tensor ScoredBatch::Weighted(const at::Tensor& values) const {
  if (!weights.defined()) return values;
  return values * (values.dim() == 1 ? weights : weights.unsqueeze(1));
}

at::Tensor ScoredBatch::TotalWeight() const {
  if (weights.defined()) return weights.sum();
  return at::scalar_tensor(samples(), at::kDouble);
}

}  // namespace stoker
