#include "stoker/train/core/transformed_target_internal.h"

#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stoker {
namespace {

constexpr const char* kWhatToDo =
    "take `loss: mse`, mae, huber or quantile, or name the field alone, as in `target: price`";

class TransformedTargetLoss final : public Loss {
 public:
  TransformedTargetLoss(std::shared_ptr<const Loss> inner, const TargetOptions& options)
      : inner_(std::move(inner)), options_(options) {}

  Result<TargetKind> KindOf(const Field& field, int64_t outputs) const override {
    STOKER_ASSIGN_OR_RETURN(const TargetKind kind, inner_->KindOf(field, outputs));
    // One integer is a number to a loss that knows no classes.
    const bool of_classes = kind == TargetKind::kClass && inner_->Classes(outputs).has_value();
    if (of_classes || kind == TargetKind::kShares || kind == TargetKind::kLabels) {
      return InvalidArgument("train.target transforms numbers, and here targets are {}; {}",
                             TargetKindName(kind), kWhatToDo);
    }
    const std::vector<float> below_zero(static_cast<size_t>(NumbersASample(field)), -1.0f);
    if (const std::string wrong = inner_->Objection(below_zero); !wrong.empty()) {
      return InvalidArgument("train.target makes numbers of either sign, and {}; {}", wrong,
                             kWhatToDo);
    }
    if (NumbersOfMean() > 1 && NumbersOfMean() != NumbersASample(field)) {
      return InvalidArgument(
          "train.target has {} means, and the target {} has {} numbers; give one for each, or one "
          "for all",
          NumbersOfMean(), field.ToString(), NumbersASample(field));
    }
    return TargetKind::kNumbers;
  }

  std::optional<int64_t> Classes(int64_t /*outputs*/) const override { return std::nullopt; }
  int64_t NumbersFor(int64_t outputs) const override { return inner_->NumbersFor(outputs); }

  std::string Objection(std::span<const float> numbers) const override {
    if (!options_.log) return {};
    for (const float number : numbers) {
      if (!(number > 0))
        return "`log: true` of train.target takes numbers above 0, of which there is a logarithm";
    }
    return {};
  }

  at::Tensor Mean(const at::Tensor& scores, const at::Tensor& target) const override {
    return inner_->Mean(scores, InUnitsOfLoss(target));
  }

  at::Tensor OfSamples(const at::Tensor& scores, const at::Tensor& target) const override {
    return inner_->OfSamples(scores, InUnitsOfLoss(target));
  }

  // Copies several means to the device in every pass, which waits for it, so no graph is recorded.
  bool LaunchesAlike() const override { return NumbersOfMean() < 2 && inner_->LaunchesAlike(); }

  at::Tensor Predict(const at::Tensor& scores) const override {
    return Estimates(scores).select(1, 0).round().to(at::kLong);
  }

  at::Tensor Probabilities(const at::Tensor& /*scores*/, TargetKind /*kind*/) const override {
    return {};
  }

  at::Tensor InUnitsOfTarget(const at::Tensor& scores) const override {
    return FromUnitsOfLoss(inner_->InUnitsOfTarget(scores));
  }

  at::Tensor Estimates(const at::Tensor& scores) const override {
    return FromUnitsOfLoss(inner_->Estimates(scores));
  }

  double Weight(const at::Tensor& target) const override { return inner_->Weight(target); }

 private:
  int64_t NumbersOfMean() const { return std::ssize(options_.mean); }

  at::Tensor InUnitsOfLoss(const at::Tensor& target) const {
    at::Tensor numbers = target.is_floating_point() ? target : target.to(at::kFloat);
    if (options_.log) numbers = numbers.log();
    if (NumbersOfMean() == 0) return numbers;
    if (NumbersOfMean() == 1) return (numbers - options_.mean[0]) / options_.std[0];
    return (numbers - Row(options_.mean, numbers)) / Row(options_.std, numbers);
  }

  //   scores  [samples, numbers * n]: n of the first number, then n of the second, ...
  at::Tensor FromUnitsOfLoss(const at::Tensor& scores) const {
    at::Tensor numbers = scores;
    if (NumbersOfMean() == 1) numbers = numbers * options_.std[0] + options_.mean[0];
    if (NumbersOfMean() > 1) {
      const int64_t of_each = numbers.size(1) / NumbersOfMean();
      numbers = numbers * Row(options_.std, numbers).repeat_interleave(of_each) +
                Row(options_.mean, numbers).repeat_interleave(of_each);
    }
    return options_.log ? numbers.exp() : numbers;
  }

  static at::Tensor Row(const std::vector<double>& values, const at::Tensor& like) {
    return at::tensor(values, at::kDouble).to(like.device(), like.scalar_type());
  }

  const std::shared_ptr<const Loss> inner_;
  const TargetOptions options_;
};

}  // namespace

std::shared_ptr<const Loss> TransformTarget(std::shared_ptr<const Loss> inner,
                                            const TargetOptions& options) {
  return std::make_shared<TransformedTargetLoss>(std::move(inner), options);
}

}  // namespace stoker
