#include "stoker/train/core/objective.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "stoker/base/problems.h"
#include "stoker/run/build_kind.h"
#include "stoker/run/learned_train.h"
#include "stoker/train/core/transformed_target_internal.h"

namespace stoker {
namespace {

Result<std::shared_ptr<const Loss>> BuildLoss(const LossRegistry::Configured& configured,
                                              const TargetOptions& transform) {
  STOKER_ASSIGN_OR_RETURN(std::shared_ptr<const Loss> loss, BuildKind(configured));
  if (!transform.transforms()) return loss;
  return TransformTarget(std::move(loss), transform);
}

Result<ObjectivePart> BuildPart(const TargetRecipe& target) {
  Result<std::shared_ptr<const Loss>> loss = BuildLoss(target.loss, target.transform);
  if (!loss.ok()) return WithPrefix(fmt::format("target '{}': ", target.field), loss.status());
  return ObjectivePart{.field = target.field,
                       .loss = *std::move(loss),
                       .metrics = target.metrics,
                       .outputs = target.outputs,
                       .weight = target.weight};
}

Status OfPart(const ObjectivePart& part, const Status& status) {
  return WithPrefix(fmt::format("target '{}': ", part.field), status);
}

// Messages of losses about the number of outputs speak of the model, which has one target for them.
Status OfOutputs(const ObjectivePart& part, const Status& status) {
  constexpr std::string_view kSays = "the model's `classes`";
  std::string message = status.message();
  for (size_t at = 0; (at = message.find(kSays, at)) != std::string::npos;)
    message.replace(at, kSays.size(), fmt::format("`outputs` of '{}'", part.field));
  return OfPart(part, Status(status.code(), message));
}

}  // namespace

Result<std::vector<int64_t>> Objective::OutputsOfParts(int64_t outputs) const {
  std::vector<int64_t> of_parts;
  for (const ObjectivePart& part : parts_) of_parts.push_back(part.outputs.value_or(outputs));
  const int64_t all = std::accumulate(of_parts.begin(), of_parts.end(), int64_t{0});
  if (all == outputs) return of_parts;
  std::string sum;
  for (const ObjectivePart& part : parts_) {
    sum += fmt::format("{}{} for '{}'", sum.empty() ? "" : " + ", part.outputs.value_or(outputs),
                       part.field);
  }
  return InvalidArgument(
      "the targets of train.target take {} outputs ({}), and the model has {}; set its `classes` "
      "to {}, or `outputs` of the targets",
      all, sum, outputs, all);
}

std::vector<at::Tensor> Objective::ScoresOfParts(const at::Tensor& scores) const {
  if (!of_several()) return {scores};
  const Result<std::vector<int64_t>> outputs = OutputsOfParts(scores.size(1));
  TORCH_CHECK_VALUE(outputs.ok(), outputs.status().message());
  std::vector<at::Tensor> of_parts;
  int64_t first = 0;
  for (const int64_t count : *outputs) {
    of_parts.push_back(scores.narrow(1, first, count).contiguous());
    first += count;
  }
  return of_parts;
}

at::Tensor Objective::Mean(const at::Tensor& scores, const Targets& targets) const {
  if (!of_several()) return parts_[0].loss->Mean(scores, targets.only());
  TORCH_CHECK(targets.all().size() == parts_.size(), "an objective of ", parts_.size(),
              " targets was given ", targets.all().size());
  const std::vector<at::Tensor> of_parts = ScoresOfParts(scores);
  const auto samples = static_cast<double>(targets.samples());
  at::Tensor sum;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Loss& loss = *parts_[i].loss;
    const at::Tensor& target = targets.all()[i];
    const double share = loss.Weight(target) / samples;
    if (share == 0) continue;  // its mean has no value
    const at::Tensor mean = loss.Mean(of_parts[i], target);
    const double factor = parts_[i].weight * share;
    const at::Tensor of_part = factor == 1 ? mean : mean * factor;
    sum = sum.defined() ? sum + of_part : of_part;
  }
  return sum.defined() ? sum : scores.sum() * 0;
}

std::vector<std::string> Objective::NotFiniteIn(const at::Tensor& scores,
                                                const Targets& targets) const {
  std::vector<std::string> fields;
  if (!of_several()) return fields;
  const std::vector<at::Tensor> of_parts = ScoresOfParts(scores);
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Loss& loss = *parts_[i].loss;
    if (loss.Weight(targets.all()[i]) == 0) continue;
    if (!std::isfinite(loss.Mean(of_parts[i], targets.all()[i]).item<double>()))
      fields.push_back(parts_[i].field);
  }
  return fields;
}

double Objective::Weight(const Targets& targets) const {
  if (!of_several()) return parts_[0].loss->Weight(targets.only());
  return static_cast<double>(targets.samples());
}

bool Objective::LaunchesAlike() const {
  return std::ranges::all_of(parts_,
                             [](const ObjectivePart& part) { return part.loss->LaunchesAlike(); });
}

Result<std::vector<TargetKind>> Objective::KindsOf(std::span<const Field> targets,
                                                   int64_t outputs) const {
  STOKER_ASSIGN_OR_RETURN(const std::vector<int64_t> of_parts, OutputsOfParts(outputs));
  std::vector<TargetKind> kinds;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Result<TargetKind> kind = parts_[i].loss->KindOf(targets[i], of_parts[i]);
    if (!kind.ok()) return of_several() ? OfOutputs(parts_[i], kind.status()) : kind.status();
    kinds.push_back(*kind);
  }
  return kinds;
}

Result<Objective> BuildObjective(const TrainRecipe& train) {
  STOKER_RETURN_IF_ERROR(CheckIsLearned(train));
  if (train.targets.empty()) {
    STOKER_ASSIGN_OR_RETURN(std::shared_ptr<const Loss> loss, BuildLoss(train.loss, train.target));
    return Objective(
        {ObjectivePart{.field = {}, .loss = std::move(loss), .metrics = train.metrics}});
  }
  std::vector<ObjectivePart> parts;
  for (const TargetRecipe& target : train.targets) {
    STOKER_ASSIGN_OR_RETURN(parts.emplace_back(), BuildPart(target));
  }
  return Objective(std::move(parts));
}

Status CheckTargets(const Objective& objective, const TensorBatch& batch, int64_t outputs,
                    const RowNames& names) {
  const std::vector<ObjectivePart>& parts = objective.parts();
  if (!objective.of_several()) {
    return CheckTarget(*parts[0].loss, batch.target.only(), batch.key, outputs, names);
  }
  STOKER_ASSIGN_OR_RETURN(const std::vector<int64_t> of_parts, objective.OutputsOfParts(outputs));
  for (size_t i = 0; i < parts.size(); ++i) {
    const Status status =
        CheckTarget(*parts[i].loss, batch.target.all()[i], batch.key, of_parts[i], names);
    if (!status.ok()) return OfOutputs(parts[i], status);
  }
  return OkStatus();
}

std::vector<BatchCheck> TargetChecksOf(const Objective& objective, const RowNames& names,
                                       std::optional<int64_t> outputs) {
  std::vector<BatchCheck> checks;
  for (const ObjectivePart& part : objective.parts()) {
    BatchCheck check = TargetCheckOf(part.loss, names, part.outputs ? part.outputs : outputs);
    if (!objective.of_several()) return {std::move(check)};
    checks.push_back(
        [check = std::move(check), part](const at::Tensor& target, const SampleKey& batch) {
          const Status status = check(target, batch);
          return status.ok() ? status : OfOutputs(part, status);
        });
  }
  return checks;
}

}  // namespace stoker
