#include "stoker/train/step/gradient_norm.h"

#include <algorithm>
#include <iterator>

#include "stoker/train/kernels/tensor_pieces.h"

namespace stoker {

double SumOfSquares(const std::vector<at::Tensor>& gradients) {
  std::vector<at::Tensor> defined;
  std::ranges::copy_if(gradients, std::back_inserter(defined),
                       [](const at::Tensor& gradient) { return gradient.defined(); });
  if (ArePlainFloats(defined)) return SumSquares(defined);
  double squared = 0;
  for (const at::Tensor& gradient : defined) {
    squared += gradient.detach().to(at::kDouble).square().sum().item<double>();
  }
  return squared;
}

}  // namespace stoker
