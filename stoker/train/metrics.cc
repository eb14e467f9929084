#include "stoker/train/metrics.h"

namespace stoker {

at::Tensor CountCorrect(const at::Tensor& scores, const at::Tensor& target) {
  return scores.argmax(1).eq(target).sum();
}

}  // namespace stoker
