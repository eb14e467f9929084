#include "stoker/train/losses/class_weights_internal.h"

#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>

namespace stoker {

at::Tensor ClassWeights(const std::vector<double>& weights, int64_t classes,
                        const at::Tensor& like) {
  TORCH_CHECK_VALUE(static_cast<int64_t>(weights.size()) == classes, "the loss has ",
                    weights.size(), " class weights, but the model tells ", classes,
                    " classes apart; give one weight for each");
  return at::tensor(weights, like.options());
}

double SumOfWeights(const std::vector<double>& weights, const at::Tensor& target) {
  const at::Tensor host = target.to(at::kCPU).to(at::kLong).contiguous();
  const int64_t* classes = host.data_ptr<int64_t>();
  double sum = 0;
  for (int64_t i = 0; i < host.numel(); ++i) {
    if (classes[i] < 0 || classes[i] >= static_cast<int64_t>(weights.size())) continue;
    sum += weights[static_cast<size_t>(classes[i])];
  }
  return sum;
}

}  // namespace stoker
