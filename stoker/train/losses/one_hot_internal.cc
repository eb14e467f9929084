#include "stoker/train/losses/one_hot_internal.h"

#include <ATen/ops/zeros_like.h>

namespace stoker {

at::Tensor OneHot(const at::Tensor& target, const at::Tensor& scores) {
  if (scores.size(1) == 1) return target.unsqueeze(1).to(scores.scalar_type());
  return at::zeros_like(scores).scatter_(1, target.unsqueeze(1), 1);
}

}  // namespace stoker
