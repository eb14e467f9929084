#include "stoker/train/losses/number_loss_internal.h"

namespace stoker {

Result<TargetKind> NumberLoss::KindOf(const Field& field, int64_t outputs) const {
  const int64_t there = NumbersASample(field), wanted = NumbersFor(outputs);
  if (there != wanted) {
    return InvalidArgument(
        "of {} outputs of the model it makes {} numbers a sample, and the target {} has {}; "
        "correct the model's `classes`, which sets its outputs, or the target",
        outputs, wanted, field.ToString(), there);
  }
  return TargetKind::kNumbers;
}

std::optional<int64_t> NumberLoss::Classes(int64_t /*outputs*/) const { return std::nullopt; }

at::Tensor NumberLoss::Probabilities(const at::Tensor& /*scores*/, TargetKind /*kind*/) const {
  return {};
}

at::Tensor NumberLoss::Predict(const at::Tensor& scores) const {
  return Estimates(scores).select(1, 0).round().to(at::kLong);
}

}  // namespace stoker
