#include "stoker/train/losses/bce.h"

#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/full.h>

#include <algorithm>

#include "stoker/train/loss.h"
#include "stoker/train/losses/one_hot_internal.h"

namespace stoker {
namespace {

class BceLoss final : public Loss {
 public:
  explicit BceLoss(const Bce& options) : options_(options) {}

  at::Tensor Mean(const at::Tensor& scores, const at::Tensor& target) const override {
    at::Tensor wanted = OneHot(target, scores);
    if (options_.label_smoothing > 0) {
      // One score stands for two classes.
      const auto classes = static_cast<double>(std::max<int64_t>(scores.size(1), 2));
      wanted = wanted * (1 - options_.label_smoothing) + options_.label_smoothing / classes;
    }
    std::optional<at::Tensor> weight;
    if (options_.positive_weight != 1) {
      weight = at::full({1}, options_.positive_weight, scores.options());
    }
    return at::binary_cross_entropy_with_logits(scores, wanted, /*weight=*/std::nullopt, weight);
  }

  at::Tensor Predict(const at::Tensor& scores) const override {
    return scores.size(1) == 1 ? scores.squeeze(1).gt(0).to(at::kLong) : Loss::Predict(scores);
  }

 private:
  const Bce options_;
};

}  // namespace

void Bce::Describe(OptionTable<Bce>& table) {
  table
      .Field("label_smoothing", &Bce::label_smoothing,
             "share of the target that is spread over all classes", Between(0, 1))
      .Field("positive_weight", &Bce::positive_weight, "how much a yes counts, by a no",
             MoreThan(0));
}

Result<std::shared_ptr<const Loss>> Bce::Build() const { return std::make_shared<BceLoss>(*this); }

}  // namespace stoker
