// What the losses of numbers alone have in common: mae, huber, poisson and quantile.
#pragma once

#include "stoker/train/core/loss.h"

namespace stoker {

// Targets are numbers, one for each output unless NumbersFor says otherwise; where a sample has one
// number, an integer is one too. There are no classes.
class NumberLoss : public Loss {
 public:
  Result<TargetKind> KindOf(const Field& field, int64_t outputs) const override;
  std::optional<int64_t> Classes(int64_t outputs) const override;
  at::Tensor Probabilities(const at::Tensor& scores, TargetKind kind) const override;
  at::Tensor Predict(const at::Tensor& scores) const override;
  bool LaunchesAlike() const override { return true; }
};

}  // namespace stoker
