#include "stoker/train/loss.h"

#include "stoker/device/feeder.h"

namespace stoker {

Status CheckTarget(const TensorBatch& batch, int64_t classes, const RowNames& names) {
  const at::Tensor host = batch.target.to(at::kCPU).to(at::kLong).contiguous();
  const int64_t* values = host.data_ptr<int64_t>();
  for (int64_t i = 0; i < host.numel(); ++i) {
    if (values[i] >= 0 && values[i] < classes) continue;
    return DataLoss(
        "{} has class number {}, but the model has {} classes, numbered from 0; set the model's "
        "`classes` or mend the labels",
        names(batch.key, std::span(&i, 1)), values[i], classes);
  }
  return OkStatus();
}

}  // namespace stoker
