#include "stoker/train/evaluation/measured_sums_internal.h"

namespace stoker {

Status MeasuredSums::Add(const at::Tensor& scores, const at::Tensor& target) {
  if (!metrics_) STOKER_RETURN_IF_ERROR(Begin(FieldOf(target), scores.size(1)));
  const Loss& objective = measures_.loss;
  const double batch_weight = objective.Weight(target);
  const at::Tensor batch_loss = objective.Mean(scores, target).to(at::kDouble) * batch_weight;
  loss_ = loss_.defined() ? loss_ + batch_loss : batch_loss;
  const Answers answers = AnswersTo(objective, kind_, scores, target);
  if (answers.defined()) {
    const at::Tensor correct = answers.said.eq(answers.right).sum();
    correct_ = correct_.defined() ? correct_ + correct : correct;
    answered_ += answers.right.numel();
  }
  STOKER_RETURN_IF_ERROR(AddToMetrics(scores, target, answers));
  weight_ += batch_weight;
  samples_ += target.size(0);
  return OkStatus();
}

Result<Evaluation> MeasuredSums::Read() const {
  Evaluation evaluation{.samples = samples_, .loss = loss_.item<double>() / weight_};
  if (answered_ > 0) {
    evaluation.accuracy = correct_.item<double>() / static_cast<double>(answered_);
  }
  STOKER_ASSIGN_OR_RETURN(evaluation.metrics, metrics_->Values());
  return evaluation;
}

Status MeasuredSums::AddToMetrics(const at::Tensor& scores, const at::Tensor& target,
                                  const Answers& answers) {
  if (measures_.metrics.empty()) return OkStatus();
  const bool numbers = kind_ == TargetKind::kNumbers;
  const at::Tensor compared = numbers ? measures_.loss.Estimates(scores) : scores;
  return metrics_->Add({.scores = compared,
                        .target = target,
                        .answers = answers,
                        .probabilities = measures_.loss.Probabilities(scores, kind_)});
}

// The first batch says what targets are.
Status MeasuredSums::Begin(const Field& target, int64_t outputs) {
  STOKER_ASSIGN_OR_RETURN(kind_, measures_.loss.KindOf(target, outputs));
  STOKER_ASSIGN_OR_RETURN(metrics_, MetricSet::Create(measures_.metrics, kind_));
  return OkStatus();
}

}  // namespace stoker
