#include "stoker/train/step/gradient_norm.h"

#include "stoker/train/core/row_gradient.h"
#include "stoker/train/kernels/tensor_pieces.h"

namespace stoker {

double SumOfSquares(const std::vector<at::Tensor>& gradients) {
  std::vector<at::Tensor> defined;
  for (const at::Tensor& gradient : gradients) {
    if (!gradient.defined()) continue;
    defined.push_back(IsOfRows(gradient) ? gradient.coalesce()._values() : gradient);
  }
  if (ArePlainFloats(defined)) return SumSquares(defined);
  double squared = 0;
  for (const at::Tensor& gradient : defined) {
    squared += gradient.detach().to(at::kDouble).square().sum().item<double>();
  }
  return squared;
}

}  // namespace stoker
