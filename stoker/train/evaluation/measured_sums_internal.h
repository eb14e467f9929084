// Sums over the batches of an evaluation.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/device/inputs.h"
#include "stoker/run/evaluation.h"
#include "stoker/train/core/model.h"
#include "stoker/train/core/objective.h"
#include "stoker/train/core/target.h"
#include "stoker/train/evaluation/evaluator.h"
#include "stoker/train/evaluation/metric_set.h"

namespace stoker {

// On the device until they are read. One thread at a time; functions throw c10::Error.
class MeasuredSums {
 public:
  // `measures` is borrowed.
  explicit MeasuredSums(const Measures& measures) : measures_(measures) {}

  // Adds a batch. Errors: targets that losses or metrics do not accept.
  Status Add(const at::Tensor& scores, const Targets& targets);

  int64_t samples() const { return samples_; }

  // REQUIRES: samples() > 0. Errors: those of the metrics.
  Result<Evaluation> Read() const;

 private:
  struct OfBatch {
    at::Tensor mean;     // of the loss of one target (Objective::MeanOfPart)
    at::Tensor weights;  // as ScoredBatch has them
  };

  // Those of one target.
  struct OfTarget {
    TargetKind kind;
    MetricSet metrics;
    double weight = 0;
    at::Tensor loss;               // times weight; undefined before a weight above 0
    at::Tensor correct, answered;  // answers, or what they weigh; undefined where there are none

    //   scores  of `part`
    Status Add(const ObjectivePart& part, const at::Tensor& scores, const at::Tensor& target,
               const OfBatch& batch);
    // NaN if nothing had a weight.
    double MeanLoss() const;
    // Nothing if there are no answers, or they weigh nothing.
    std::optional<double> Accuracy() const;
  };

  Status Begin(const Targets& targets, int64_t outputs);
  Result<Evaluation> ReadAll() const;

  const Measures& measures_;
  std::vector<OfTarget> targets_;  // empty before the first batch
  int64_t samples_ = 0;
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
