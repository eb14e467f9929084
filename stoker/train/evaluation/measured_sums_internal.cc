#include "stoker/train/evaluation/measured_sums_internal.h"

#include <limits>
#include <utility>

#include "stoker/run/recipe.h"

namespace stoker {

Status MeasuredSums::Add(const at::Tensor& scores, const Targets& targets) {
  if (targets_.empty()) STOKER_RETURN_IF_ERROR(Begin(targets, scores.size(1)));
  const std::vector<at::Tensor> of_parts = measures_.objective.ScoresOfParts(scores);
  at::Tensor weights;
  if (measures_.objective.weighs_metrics()) weights = targets.all().back().to(at::kDouble);
  for (size_t i = 0; i < targets_.size(); ++i) {
    const at::Tensor mean = measures_.objective.MeanOfPart(i, of_parts[i], targets);
    STOKER_RETURN_IF_ERROR(targets_[i].Add(measures_.objective.parts()[i], of_parts[i],
                                           targets.all()[i], {.mean = mean, .weights = weights}));
  }
  samples_ += targets.samples();
  return OkStatus();
}

Result<Evaluation> MeasuredSums::Read() const {
  if (measures_.objective.of_several()) return ReadAll();
  const OfTarget& only = targets_.front();
  Evaluation evaluation{.samples = samples_, .loss = only.MeanLoss(), .accuracy = only.Accuracy()};
  STOKER_ASSIGN_OR_RETURN(evaluation.metrics, only.metrics.Values());
  return evaluation;
}

// The loss as Objective::Mean has it.
Result<Evaluation> MeasuredSums::ReadAll() const {
  Evaluation evaluation{.samples = samples_, .loss = 0, .metrics = Json::object()};
  for (size_t i = 0; i < targets_.size(); ++i) {
    const OfTarget& target = targets_[i];
    const ObjectivePart& part = measures_.objective.parts()[i];
    const auto add = [&](std::string_view figure, Json value) {
      evaluation.metrics[FigureOfTarget(part.field, figure)] = std::move(value);
    };
    // As in training: by the samples, whatever their classes weigh.
    const double mean =
        target.weight > 0 ? target.MeanLoss() * target.weight / static_cast<double>(samples_) : 0.0;
    evaluation.loss += part.weight * mean;
    add("loss", mean);
    if (const std::optional<double> accuracy = target.Accuracy()) add("accuracy", *accuracy);
    STOKER_ASSIGN_OR_RETURN(const Json values, target.metrics.Values());
    if (!values.is_object()) continue;
    for (const auto& [name, value] : values.items()) add(name, value);
  }
  return evaluation;
}

// The first batch says what targets are.
Status MeasuredSums::Begin(const Targets& targets, int64_t outputs) {
  std::vector<Field> fields;
  for (const at::Tensor& target : targets.all()) fields.push_back(FieldOf(target));
  STOKER_ASSIGN_OR_RETURN(const std::vector<TargetKind> kinds,
                          measures_.objective.KindsOf(fields, outputs));
  for (size_t i = 0; i < kinds.size(); ++i) {
    const ObjectivePart& part = measures_.objective.parts()[i];
    STOKER_ASSIGN_OR_RETURN(MetricSet metrics,
                            MetricSet::Create(part.metrics, kinds[i], part.field));
    targets_.push_back({.kind = kinds[i], .metrics = std::move(metrics)});
  }
  return OkStatus();
}

Status MeasuredSums::OfTarget::Add(const ObjectivePart& part, const at::Tensor& scores,
                                   const at::Tensor& target, const OfBatch& batch) {
  const double batch_weight = part.loss->Weight(target);
  if (batch_weight > 0) {
    const at::Tensor batch_loss = batch.mean.to(at::kDouble) * batch_weight;
    loss = loss.defined() ? loss + batch_loss : batch_loss;
    weight += batch_weight;
  }
  const Answers answers = AnswersTo(*part.loss, kind, scores, target);
  const bool estimates = kind == TargetKind::kNumbers && !part.metrics.empty();
  const at::Tensor compared = estimates ? part.loss->Estimates(scores) : scores;
  ScoredBatch scored{
      .scores = compared, .target = target, .answers = answers, .weights = batch.weights};
  if (answers.defined()) {
    const at::Tensor right = scored.Weighted(answers.said.eq(answers.right)).sum();
    const int64_t of_sample = answers.right.dim() > 1 ? answers.right.size(1) : 1;
    const at::Tensor all = scored.TotalWeight() * of_sample;
    correct = correct.defined() ? correct + right : right;
    answered = answered.defined() ? answered + all : all;
  }
  if (part.metrics.empty()) return OkStatus();
  scored.probabilities = part.loss->Probabilities(scores, kind);
  return metrics.Add(scored);
}

double MeasuredSums::OfTarget::MeanLoss() const {
  if (!loss.defined()) return std::numeric_limits<double>::quiet_NaN();
  return loss.item<double>() / weight;
}

std::optional<double> MeasuredSums::OfTarget::Accuracy() const {
  if (!answered.defined()) return std::nullopt;
  const double all = answered.item<double>();
  if (all == 0) return std::nullopt;
  return correct.item<double>() / all;
}

}  // namespace stoker
