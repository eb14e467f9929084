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

SampleWeights WeightsOf(const TrainOptions& options) {
  if (options.WeightField().empty()) return SampleWeights::kNone;
  return options.weighted_metrics ? SampleWeights::kLossesAndMetrics : SampleWeights::kLosses;
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

void Objective::CheckCount(const Targets& targets) const {
  TORCH_CHECK(targets.all().size() == NumTensors(), "an objective takes ", NumTensors(),
              " tensors of targets", weighs_samples() ? " and weights of samples" : "",
              ", and was given ", targets.all().size());
}

at::Tensor Objective::WeightedSum(size_t part, const at::Tensor& scores,
                                  const Targets& targets) const {
  const at::Tensor of_samples = parts_[part].loss->OfSamples(scores, targets.all()[part]);
  const at::Tensor& weights = targets.all().back();
  // Others would be broadcast to a wrong sum.
  TORCH_CHECK(of_samples.sizes() == weights.sizes(), "a loss gives ", of_samples.sizes(),
              " for the weights ", weights.sizes(),
              "; its OfSamples must give one number a sample");
  return (of_samples * weights).sum();
}

at::Tensor Objective::MeanOfPart(size_t part, const at::Tensor& scores,
                                 const Targets& targets) const {
  CheckCount(targets);
  const Loss& loss = *parts_[part].loss;
  const at::Tensor& target = targets.all()[part];
  if (!weighs_samples()) return loss.Mean(scores, target);
  return WeightedSum(part, scores, targets) / loss.Weight(target);
}

at::Tensor Objective::Mean(const at::Tensor& scores, const Targets& targets) const {
  if (!of_several()) return MeanOfPart(0, scores, targets);
  CheckCount(targets);
  const std::vector<at::Tensor> of_parts = ScoresOfParts(scores);
  const auto samples = static_cast<double>(targets.samples());
  at::Tensor sum;
  const auto add = [&](const at::Tensor& of_part, double factor) {
    const at::Tensor term = factor == 1 ? of_part : of_part * factor;
    sum = sum.defined() ? sum + term : term;
  };
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Loss& loss = *parts_[i].loss;
    if (weighs_samples()) {
      add(WeightedSum(i, of_parts[i], targets), parts_[i].weight / samples);
      continue;
    }
    const double share = loss.Weight(targets.all()[i]) / samples;
    // Its mean has no value otherwise.
    if (share != 0) add(loss.Mean(of_parts[i], targets.all()[i]), parts_[i].weight * share);
  }
  return sum.defined() ? sum : scores.sum() * 0;
}

std::vector<std::string> Objective::NotFiniteIn(const at::Tensor& scores,
                                                const Targets& targets) const {
  std::vector<std::string> fields;
  if (!of_several()) return fields;
  CheckCount(targets);
  const std::vector<at::Tensor> of_parts = ScoresOfParts(scores);
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].loss->Weight(targets.all()[i]) == 0) continue;
    if (!std::isfinite(MeanOfPart(i, of_parts[i], targets).item<double>()))
      fields.push_back(parts_[i].field);
  }
  return fields;
}

double Objective::Weight(const Targets& targets) const {
  CheckCount(targets);
  if (!of_several()) return parts_[0].loss->Weight(targets.all().front());
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
  const SampleWeights sample_weights = WeightsOf(train.options);
  STOKER_RETURN_IF_ERROR(CheckIsLearned(train));
  if (train.targets.empty()) {
    STOKER_ASSIGN_OR_RETURN(std::shared_ptr<const Loss> loss, BuildLoss(train.loss, train.target));
    return Objective(
        {ObjectivePart{.field = {}, .loss = std::move(loss), .metrics = train.metrics}},
        sample_weights);
  }
  std::vector<ObjectivePart> parts;
  for (const TargetRecipe& target : train.targets) {
    STOKER_ASSIGN_OR_RETURN(parts.emplace_back(), BuildPart(target));
  }
  return Objective(std::move(parts), sample_weights);
}

Status CheckTargets(const Objective& objective, const TensorBatch& batch, int64_t outputs,
                    const RowNames& names) {
  const std::vector<ObjectivePart>& parts = objective.parts();
  const std::vector<at::Tensor>& all = batch.target.all();
  if (all.size() != objective.NumTensors()) {
    return Internal("a batch has {} tensors of targets and weights, and the losses take {}",
                    all.size(), objective.NumTensors());
  }
  if (objective.weighs_samples())
    STOKER_RETURN_IF_ERROR(CheckSampleWeights(all.back(), batch.key, names));
  if (!objective.of_several())
    return CheckTarget(*parts[0].loss, all.front(), batch.key, outputs, names);
  STOKER_ASSIGN_OR_RETURN(const std::vector<int64_t> of_parts, objective.OutputsOfParts(outputs));
  for (size_t i = 0; i < parts.size(); ++i) {
    const Status status = CheckTarget(*parts[i].loss, all[i], batch.key, of_parts[i], names);
    if (!status.ok()) return OfOutputs(parts[i], status);
  }
  return OkStatus();
}

std::vector<BatchCheck> TargetChecksOf(const Objective& objective, const RowNames& names,
                                       std::optional<int64_t> outputs) {
  std::vector<BatchCheck> checks;
  for (const ObjectivePart& part : objective.parts()) {
    BatchCheck check = TargetCheckOf(part.loss, names, part.outputs ? part.outputs : outputs);
    if (!objective.of_several()) {
      checks.push_back(std::move(check));
      break;
    }
    checks.push_back(
        [check = std::move(check), part](const at::Tensor& target, const SampleKey& batch) {
          const Status status = check(target, batch);
          return status.ok() ? status : OfOutputs(part, status);
        });
  }
  if (objective.weighs_samples()) {
    checks.push_back([names](const at::Tensor& weights, const SampleKey& batch) {
      return CheckSampleWeights(weights, batch, names);
    });
  }
  return checks;
}

}  // namespace stoker
