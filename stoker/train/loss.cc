#include "stoker/train/loss.h"

namespace stoker {

Status CheckTarget(const at::Tensor& target, int64_t classes) {
  const at::Tensor host = target.to(at::kCPU).to(at::kLong).contiguous();
  const int64_t* values = host.data_ptr<int64_t>();
  for (int64_t i = 0; i < host.numel(); ++i) {
    if (values[i] >= 0 && values[i] < classes) continue;
    return DataLoss(
        "sample {} of the batch has class number {}, but the model has {} classes, numbered from "
        "0; set the model's `classes` or mend the labels",
        i, values[i], classes);
  }
  return OkStatus();
}

}  // namespace stoker
