#include "stoker/train/losses/mse.h"

#include <ATen/ops/mse_loss.h>

#include "stoker/train/core/loss.h"
#include "stoker/train/losses/target_forms_internal.h"

namespace stoker {
namespace {

class MseLoss final : public Loss {
 public:
  Result<TargetKind> KindOf(const Field& field, int64_t outputs) const override {
    return ClassOrNumberForEachOutput("one class number a sample, or a number for each output",
                                      TargetKind::kNumbers, field, outputs);
  }

  std::optional<int64_t> Classes(int64_t outputs) const override {
    return outputs == 1 ? std::nullopt : Loss::Classes(outputs);
  }

  bool LaunchesAlike() const override { return true; }
  at::Tensor Mean(const at::Tensor& scores, const at::Tensor& target) const override {
    return at::mse_loss(scores, WantedScores(target, scores));
  }

  at::Tensor OfSamples(const at::Tensor& scores, const at::Tensor& target) const override {
    return at::mse_loss(scores, WantedScores(target, scores), at::Reduction::None).mean(1);
  }

  at::Tensor Predict(const at::Tensor& scores) const override {
    return scores.size(1) == 1 ? scores.squeeze(1).round().to(at::kLong) : Loss::Predict(scores);
  }

  // One output is a number, whole or not.
  at::Tensor Probabilities(const at::Tensor& scores, TargetKind kind) const override {
    return Loss::Probabilities(scores, scores.size(1) == 1 ? TargetKind::kNumbers : kind);
  }
};

}  // namespace

void Mse::Describe(OptionTable<Mse>&) {}

Result<std::shared_ptr<const Loss>> Mse::Build() const { return std::make_shared<MseLoss>(); }

}  // namespace stoker
