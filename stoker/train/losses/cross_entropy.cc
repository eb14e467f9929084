#include "stoker/train/losses/cross_entropy.h"

#include <ATen/ops/cross_entropy_loss.h>

#include <limits>

#include "stoker/train/loss.h"
#include "stoker/train/losses/class_weights_internal.h"

namespace stoker {
namespace {

// torch would leave out samples of class -100; here that is a mistake like any other.
constexpr int64_t kNone = std::numeric_limits<int64_t>::min();

class CrossEntropyLoss final : public Loss {
 public:
  explicit CrossEntropyLoss(const CrossEntropy& options) : options_(options) {}

  at::Tensor Mean(const at::Tensor& scores, const at::Tensor& target) const override {
    std::optional<at::Tensor> weights;
    if (!options_.weights.empty()) {
      weights = ClassWeights(options_.weights, scores.size(1), scores);
    }
    return at::cross_entropy_loss(scores, target, weights, at::Reduction::Mean, kNone,
                                  options_.label_smoothing);
  }

  double Weight(const at::Tensor& target) const override {
    return options_.weights.empty() ? Loss::Weight(target) : SumOfWeights(options_.weights, target);
  }

 private:
  const CrossEntropy options_;
};

}  // namespace

void CrossEntropy::Describe(OptionTable<CrossEntropy>& table) {
  table
      .Field("label_smoothing", &CrossEntropy::label_smoothing,
             "share of the target that is spread over all classes", Between(0, 1))
      .Field("weights", &CrossEntropy::weights,
             "how much each class counts, one for each; empty: all the same", MoreThan(0));
}

Result<std::shared_ptr<const Loss>> CrossEntropy::Build() const {
  return std::make_shared<CrossEntropyLoss>(*this);
}

}  // namespace stoker
