#include "stoker/train/losses/cross_entropy.h"

#include <ATen/ops/cross_entropy_loss.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stoker/train/core/loss.h"
#include "stoker/train/losses/class_weights_internal.h"
#include "stoker/train/losses/target_forms_internal.h"

namespace stoker {
namespace {

// torch would leave out samples of class -100; here that is a mistake like any other.
constexpr int64_t kIgnoreNone = std::numeric_limits<int64_t>::min();

// Shares that are rounded to bfloat16, say, do not make exactly 1.
constexpr double kMostOff = 0.01;

class CrossEntropyLoss final : public Loss {
 public:
  explicit CrossEntropyLoss(const CrossEntropy& options) : options_(options) {}

  Result<TargetKind> KindOf(const Field& field, int64_t outputs) const override {
    if (!IsOneInteger(field) && NumbersASample(field) == 1) {
      return InvalidArgument(
          "it takes one class number, an integer, a sample, or a share of each class, and not {}; "
          "to predict numbers take `loss: mse` and one output; if they are class numbers {}",
          field.ToString(),
          IsFloating(field.dtype)
              ? fmt::format("put `cast: {{field: {}, dtype: int64}}` before `batch`", field.name)
              : "make them one number a sample, not a row of one");
    }
    return ClassOrNumberForEachOutput("one class number a sample, or a share of each class",
                                      TargetKind::kShares, field, outputs);
  }

  std::string Objection(std::span<const float> numbers) const override {
    double sum = 0;
    for (const float share : numbers) sum += share;
    const bool shares = std::ranges::all_of(numbers, [](float share) { return share >= 0; });
    if (shares && std::abs(sum - 1) <= kMostOff) return {};
    return "cross_entropy takes shares of classes, at least 0 and 1 in all (for several labels a "
           "sample take `loss: bce`, to predict numbers `loss: mse`)";
  }

  // Weights of classes travel to the device anew in each pass, for which it is waited for.
  bool LaunchesAlike() const override { return options_.weights.empty(); }

  at::Tensor Mean(const at::Tensor& scores, const at::Tensor& target) const override {
    return Reduced(scores, target, at::Reduction::Mean);
  }

  at::Tensor OfSamples(const at::Tensor& scores, const at::Tensor& target) const override {
    return Reduced(scores, target, at::Reduction::None);
  }

  double Weight(const at::Tensor& target) const override {
    // Torch divides by the weights of classes, not by those of shares.
    const bool by_weights = !options_.weights.empty() && !target.is_floating_point();
    return by_weights ? SumOfWeights(options_.weights, target) : Loss::Weight(target);
  }

 private:
  at::Tensor Reduced(const at::Tensor& scores, const at::Tensor& target,
                     at::Reduction::Reduction reduction) const {
    std::optional<at::Tensor> weights;
    if (!options_.weights.empty()) {
      weights = ClassWeights(options_.weights, scores.size(1), scores);
    }
    return at::cross_entropy_loss(scores, target, weights, reduction, kIgnoreNone,
                                  options_.label_smoothing);
  }

  const CrossEntropy options_;
};

}  // namespace

void CrossEntropy::Describe(OptionTable<CrossEntropy>& table) {
  table
      .Field("label_smoothing", &CrossEntropy::label_smoothing,
             "share of the target that is spread over all classes", Between(0, 1))
      .Field(
          "weights", &CrossEntropy::weights,
          "how much each class counts, one for each; empty: all the same; balanced: learned from "
          "the training data, the rarer the more",
          WeightRange());
}

Result<std::shared_ptr<const Loss>> CrossEntropy::Build() const {
  return std::make_shared<CrossEntropyLoss>(*this);
}

}  // namespace stoker
