// Sums over the batches of an evaluation.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "stoker/base/status.h"
#include "stoker/run/evaluation.h"
#include "stoker/train/core/loss.h"
#include "stoker/train/core/model.h"
#include "stoker/train/core/target.h"
#include "stoker/train/evaluation/evaluator.h"
#include "stoker/train/evaluation/metric_set.h"

namespace stoker {

// On the device until they are read. One thread at a time; functions throw c10::Error.
class MeasuredSums {
 public:
  // `measures` is borrowed.
  explicit MeasuredSums(const Measures& measures) : measures_(measures) {}

  // Adds a batch. Errors: targets that loss or metrics do not accept.
  Status Add(const at::Tensor& scores, const at::Tensor& target);

  int64_t samples() const { return samples_; }

  // REQUIRES: samples() > 0. Errors: those of the metrics.
  Result<Evaluation> Read() const;

 private:
  Status AddToMetrics(const at::Tensor& scores, const at::Tensor& target, const Answers& answers);
  Status Begin(const Field& target, int64_t outputs);

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
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;
  ~EvaluationMode() { model_.train(was_training_); }

 private:
  Model& model_;
  const bool was_training_;
};

}  // namespace stoker
