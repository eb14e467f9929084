#include "stoker/train/losses/bce.h"

#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/sigmoid.h>
#include <c10/util/Exception.h>

#include <algorithm>

#include "stoker/train/core/loss.h"
#include "stoker/train/losses/class_weights_internal.h"
#include "stoker/train/losses/target_forms_internal.h"

namespace stoker {
namespace {

class BceLoss final : public Loss {
 public:
  explicit BceLoss(const Bce& options) : options_(options) {}

  Result<TargetKind> KindOf(const Field& field, int64_t outputs) const override {
    return ClassOrNumberForEachOutput(
        "one class number a sample, or a number from 0 to 1 for each output", TargetKind::kLabels,
        field, outputs);
  }

  // One score stands for two classes.
  std::optional<int64_t> Classes(int64_t outputs) const override {
    return std::max<int64_t>(outputs, 2);
  }

  std::string Objection(std::span<const float> numbers) const override {
    const auto outside = [](float number) { return number < 0 || number > 1; };
    return std::ranges::any_of(numbers, outside) ? "bce takes numbers from 0 to 1" : "";
  }

  bool LaunchesAlike() const override { return true; }
  at::Tensor Mean(const at::Tensor& scores, const at::Tensor& target) const override {
    return Reduced(scores, target, at::Reduction::Mean);
  }

  at::Tensor OfSamples(const at::Tensor& scores, const at::Tensor& target) const override {
    return Reduced(scores, target, at::Reduction::None).mean(1);
  }

  at::Tensor Predict(const at::Tensor& scores) const override {
    return scores.size(1) == 1 ? scores.squeeze(1).gt(0).to(at::kLong) : Loss::Predict(scores);
  }

  at::Tensor Probabilities(const at::Tensor& scores, TargetKind kind) const override {
    if (scores.size(1) == 1) return at::sigmoid(at::cat({-scores, scores}, 1));
    return kind == TargetKind::kLabels ? at::sigmoid(scores) : Loss::Probabilities(scores, kind);
  }

 private:
  at::Tensor Reduced(const at::Tensor& scores, const at::Tensor& target,
                     at::Reduction::Reduction reduction) const {
    const bool of_classes = !target.is_floating_point();
    // Nothing else looks at the class number of the one score; on a device it would be waited for.
    TORCH_CHECK_INDEX(!of_classes || scores.size(1) > 1 || !target.is_cpu() ||
                          target.eq(0).logical_or(target.eq(1)).all().item<bool>(),
                      "one output tells classes 0 and 1 apart");
    at::Tensor wanted = WantedScores(target, scores);
    if (options_.label_smoothing > 0) {
      const auto classes = static_cast<double>(of_classes ? *Classes(scores.size(1)) : 2);
      wanted = wanted * (1 - options_.label_smoothing) + options_.label_smoothing / classes;
    }
    std::optional<at::Tensor> weight;
    if (options_.positive_weight != 1) {
      weight = at::full({1}, options_.positive_weight, scores.options());
    }
    return at::binary_cross_entropy_with_logits(scores, wanted, /*weight=*/std::nullopt, weight,
                                                reduction);
  }

  const Bce options_;
};

}  // namespace

void Bce::Describe(OptionTable<Bce>& table) {
  table
      .Field("label_smoothing", &Bce::label_smoothing,
             "share of the target that is spread over all classes", Between(0, 1))
      .Field("positive_weight", &Bce::positive_weight, "how much a yes counts, by a no",
             WeightRange());
}

Result<std::shared_ptr<const Loss>> Bce::Build() const { return std::make_shared<BceLoss>(*this); }

}  // namespace stoker
