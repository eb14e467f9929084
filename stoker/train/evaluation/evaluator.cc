#include "stoker/train/evaluation/evaluator.h"

#include <c10/core/InferenceMode.h>

#include <optional>

#include "stoker/base/clock.h"
#include "stoker/base/trace.h"
#include "stoker/data/advice/no_batch.h"
#include "stoker/data/core/dataset.h"
#include "stoker/device/device_prefetcher.h"
#include "stoker/device/torch_error.h"
#include "stoker/train/core/loss.h"
#include "stoker/train/core/model.h"
#include "stoker/train/evaluation/metric_set.h"

namespace stoker {
namespace {

// Sums over batches, on the device until they are read.
class Sums {
 public:
  explicit Sums(const Measures& measures) : measures_(measures) {}

  Status Add(const at::Tensor& scores, const at::Tensor& target) {
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

  int64_t samples() const { return samples_; }

  // Where there was a sample.
  Result<Evaluation> Read() const {
    Evaluation evaluation{.samples = samples_, .loss = loss_.item<double>() / weight_};
    if (answered_ > 0) {
      evaluation.accuracy = correct_.item<double>() / static_cast<double>(answered_);
    }
    STOKER_ASSIGN_OR_RETURN(evaluation.metrics, metrics_->Values());
    return evaluation;
  }

 private:
  Status AddToMetrics(const at::Tensor& scores, const at::Tensor& target, const Answers& answers) {
    if (measures_.metrics.empty()) return OkStatus();
    const bool numbers = kind_ == TargetKind::kNumbers;
    const at::Tensor compared = numbers ? measures_.loss.Estimates(scores) : scores;
    return metrics_->Add({.scores = compared,
                          .target = target,
                          .answers = answers,
                          .probabilities = measures_.loss.Probabilities(scores, kind_)});
  }

  // The first batch says what targets are.
  Status Begin(const Field& target, int64_t outputs) {
    STOKER_ASSIGN_OR_RETURN(kind_, measures_.loss.KindOf(target, outputs));
    STOKER_ASSIGN_OR_RETURN(metrics_, MetricSet::Create(measures_.metrics, kind_));
    return OkStatus();
  }

  const Measures& measures_;
  TargetKind kind_ = TargetKind::kClass;
  std::optional<MetricSet> metrics_;
  int64_t samples_ = 0, answered_ = 0;
  double weight_ = 0;
  at::Tensor loss_;
  at::Tensor correct_;  // of answered_
};

// The model in evaluation mode for a scope.
class EvaluationMode {
 public:
  explicit EvaluationMode(Model& model) : model_(model), was_training_(model.is_training()) {
    model_.eval();
  }
  ~EvaluationMode() { model_.train(was_training_); }

 private:
  Model& model_;
  const bool was_training_;
};

Result<std::optional<TensorBatch>> Next(DevicePrefetcher& batches) {
  const TraceSpan span("wait for data");
  return batches.Next();
}

Status AddBatch(Model& model, const TensorBatch& batch, const Measures& measures, Sums& sums) {
  const TraceSpan span("evaluate a batch");
  at::Tensor scores;
  const Status status = CatchTorchErrors([&] {
    // Scores of 16 bits would make the loss coarse.
    scores = model.Forward(batch.input).to(at::kFloat);
    return sums.Add(scores, batch.target);
  });
  if (status.ok() || !scores.defined()) return status;
  STOKER_RETURN_IF_ERROR(CheckTarget(measures.loss, batch, scores.size(1), measures.rows));
  return status;
}

}  // namespace

Status CheckEvaluable(const Dataset& batches) {
  if (batches.cardinality().infinite()) {
    return InvalidArgument(
        "data.eval never ends, so it cannot be evaluated on; take `repeat` out of it");
  }
  if (batches.cardinality() == Cardinality::Of(0)) return NoBatch(batches, "data.eval");
  return OkStatus();
}

Result<Evaluation> Evaluate(Model& model, const Measures& measures, DevicePrefetcher& batches,
                            const std::atomic<bool>* stop) {
  const c10::InferenceMode no_gradients;
  const EvaluationMode evaluation_mode(model);
  const Stopwatch watch;
  Sums sums(measures);
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<TensorBatch> batch, Next(batches));
    if (!batch) break;
    STOKER_RETURN_IF_ERROR(AddBatch(model, *batch, measures, sums).While("evaluating"));
    if (stop != nullptr && *stop) return Cancelled("evaluation was stopped");
  }
  if (sums.samples() == 0) return NoBatch("data.eval");
  Evaluation evaluation;
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&]() -> Status {
    STOKER_ASSIGN_OR_RETURN(evaluation, sums.Read());
    return OkStatus();
  }));
  evaluation.seconds = watch.ElapsedSeconds();
  return evaluation;
}

}  // namespace stoker
