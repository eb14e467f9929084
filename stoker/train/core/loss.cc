#include "stoker/train/core/loss.h"

#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace stoker {
namespace {

Status CheckClasses(const Loss& loss, const at::Tensor& target, const SampleKey& batch,
                    int64_t outputs, const RowNames& names) {
  const std::optional<int64_t> classes = loss.Classes(outputs);
  if (!classes) return OkStatus();
  const at::Tensor host = target.to(at::kCPU).to(at::kLong).contiguous();
  const int64_t* values = host.data_ptr<int64_t>();
  for (int64_t i = 0; i < host.numel(); ++i) {
    if (values[i] >= 0 && values[i] < *classes) continue;
    return DataLoss(
        "{} has class number {}, but the model {}; set the model's `classes` or correct the labels",
        names(batch, std::span(&i, 1)), values[i],
        outputs == *classes ? fmt::format("has {} classes, numbered from 0", *classes)
                            : "has one output, which tells classes 0 and 1 apart");
  }
  return OkStatus();
}

// Empty if nothing is wrong.
std::string WhatIsWrong(const Loss& loss, std::span<const float> numbers) {
  for (const float number : numbers) {
    if (!std::isfinite(number)) {
      return "a target must be finite (CSV reads an empty cell as its field's `default`)";
    }
  }
  return loss.Objection(numbers);
}

// "the target 1.5", "the target [1, 0, ..., 2]"
std::string TextOf(std::span<const float> numbers) {
  constexpr size_t kMostShown = 8;
  if (numbers.size() == 1) return fmt::format("the target {}", numbers[0]);
  std::string text;
  for (size_t i = 0; i < std::min(numbers.size(), kMostShown); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", numbers[i]);
  }
  return fmt::format("the target [{}{}]", text, numbers.size() > kMostShown ? ", ..." : "");
}

Status CheckNumbers(const Loss& loss, const at::Tensor& target, const SampleKey& batch,
                    const RowNames& names) {
  const at::Tensor host = target.to(at::kCPU).to(at::kFloat).contiguous();
  const auto width = static_cast<size_t>(host.dim() == 2 ? host.size(1) : 1);
  for (int64_t i = 0; i < host.size(0); ++i) {
    const std::span<const float> numbers(host.data_ptr<float>() + static_cast<size_t>(i) * width,
                                         width);
    const std::string wrong = WhatIsWrong(loss, numbers);
    if (wrong.empty()) continue;
    return OutOfRange("{} has {}, but {}; correct the data", names(batch, std::span(&i, 1)),
                      TextOf(numbers), wrong);
  }
  return OkStatus();
}

}  // namespace

Result<TargetKind> Loss::KindOf(const Field& field, int64_t /*outputs*/) const {
  if (IsOneInteger(field)) return TargetKind::kClass;
  return InvalidArgument(
      "it takes class numbers, one integer a sample, and not {}; take another loss (cross_entropy "
      "for shares of classes, bce for labels, mse, mae or huber for numbers), or make them class "
      "numbers",
      field.ToString());
}

at::Tensor Loss::Probabilities(const at::Tensor& scores, TargetKind kind) const {
  return kind == TargetKind::kNumbers ? at::Tensor() : at::softmax(scores, 1);
}

at::Tensor Loss::OfSamples(const at::Tensor& scores, const at::Tensor& target) const {
  if (scores.size(0) == 0) return scores.sum(1);
  std::vector<at::Tensor> losses;
  // Split, so that autograd joins the gradients of all in one operation.
  const std::vector<at::Tensor> scores_of = scores.split(1), target_of = target.split(1);
  for (size_t i = 0; i < scores_of.size(); ++i) {
    const double weight = Weight(target_of[i]);
    // The mean over what counts nothing has no value.
    losses.push_back(weight == 0 ? scores_of[i].sum() * 0
                                 : Mean(scores_of[i], target_of[i]) * weight);
  }
  return at::stack(losses);
}

Answers AnswersTo(const Loss& loss, TargetKind kind, const at::Tensor& scores,
                  const at::Tensor& target) {
  switch (kind) {
    case TargetKind::kClass: return {.right = target, .said = loss.Predict(scores)};
    case TargetKind::kShares: return {.right = target.argmax(1), .said = loss.Predict(scores)};
    case TargetKind::kLabels:
      return {.right = target.view_as(scores).gt(0.5).to(at::kLong),
              .said = scores.gt(0).to(at::kLong)};
    case TargetKind::kNumbers: break;
  }
  return {};
}

Status CheckTarget(const Loss& loss, const at::Tensor& target, const SampleKey& key,
                   int64_t outputs, const RowNames& names) {
  STOKER_RETURN_IF_ERROR(loss.KindOf(FieldOf(target), outputs).status());
  if (target.is_floating_point() || !loss.Classes(outputs)) {
    return CheckNumbers(loss, target, key, names);
  }
  return CheckClasses(loss, target, key, outputs, names);
}

BatchCheck TargetCheckOf(std::shared_ptr<const Loss> loss, RowNames names,
                         std::optional<int64_t> outputs) {
  return [loss = std::move(loss), names = std::move(names), outputs](const at::Tensor& target,
                                                                     const SampleKey& batch) {
    if (target.is_floating_point()) return CheckNumbers(*loss, target, batch, names);
    if (!outputs) return OkStatus();
    if (!loss->Classes(*outputs)) return CheckNumbers(*loss, target, batch, names);
    const Status status = CheckClasses(*loss, target, batch, *outputs, names);
    // Nothing that a stage of the pipeline could skip.
    return status.ok() ? status : OutOfRange("{}", status.message());
  };
}

Status CheckSampleWeights(const at::Tensor& weights, const SampleKey& batch,
                          const RowNames& names) {
  const at::Tensor host = weights.to(at::kCPU).to(at::kFloat).contiguous();
  const float* const values = host.const_data_ptr<float>();
  for (int64_t i = 0; i < host.numel(); ++i) {
    if (values[i] >= 0 && values[i] <= static_cast<float>(kMostWeight)) continue;
    return OutOfRange(
        "{} has the weight {} (train.sample_weight), but a weight must be from 0 to {:g}{}; "
        "correct the data",
        names(batch, std::span(&i, 1)), values[i], kMostWeight,
        std::isnan(values[i]) ? " (CSV reads an empty cell as its field's `default`)" : "");
  }
  return OkStatus();
}

}  // namespace stoker
