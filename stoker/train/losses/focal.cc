#include "stoker/train/losses/focal.h"

#include <ATen/ops/log_softmax.h>
#include <ATen/ops/nll_loss.h>

#include <limits>

#include "stoker/train/core/loss.h"
#include "stoker/train/losses/class_weights_internal.h"

namespace stoker {
namespace {

// torch would leave out samples of class -100; here that is a mistake like any other.
constexpr int64_t kIgnoreNoLabel = std::numeric_limits<int64_t>::min();

constexpr double kLeast = std::numeric_limits<float>::min();

class FocalLoss final : public Loss {
 public:
  explicit FocalLoss(const Focal& options) : options_(options) {}

  // Weights of classes travel to the device anew in each pass, for which it is waited for.
  bool LaunchesAlike() const override { return options_.weights.empty(); }

  at::Tensor Mean(const at::Tensor& scores, const at::Tensor& target) const override {
    return OfSamples(scores, target).mean();
  }

  at::Tensor OfSamples(const at::Tensor& scores, const at::Tensor& target) const override {
    std::optional<at::Tensor> weights;
    if (!options_.weights.empty()) {
      weights = ClassWeights(options_.weights, scores.size(1), scores);
    }
    const at::Tensor log = at::log_softmax(scores, 1);
    // Also checks the class numbers.
    const at::Tensor each = at::nll_loss(log, target, weights, at::Reduction::None, kIgnoreNoLabel);
    // 1 - p_t. Kept from 0, where a power below 1 has no finite gradient.
    const at::Tensor wrong = log.gather(1, target.unsqueeze(1)).squeeze(1).expm1().neg();
    return wrong.clamp_min(kLeast).pow(options_.gamma) * each;
  }

 private:
  const Focal options_;
};

}  // namespace

void Focal::Describe(OptionTable<Focal>& table) {
  table.Field("gamma", &Focal::gamma, "how little they count; 0: as much as others", AtLeast(0))
      .Field(
          "weights", &Focal::weights,
          "how much each class counts, one for each; empty: all the same; balanced: learned from "
          "the training data, the rarer the more",
          WeightRange());
}

Result<std::shared_ptr<const Loss>> Focal::Build() const {
  return std::make_shared<FocalLoss>(*this);
}

}  // namespace stoker
