// Metric: a figure of how good scores are, of all samples of an evaluation.
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>

#include "stoker/base/json.h"
#include "stoker/train/core/loss.h"
#include "stoker/train/core/target.h"

namespace stoker {

// What a metric sees of a batch, on the device.
struct ScoredBatch {
  // float32 [samples, outputs]; where targets are numbers, the loss's estimate of each.
  const at::Tensor& scores;
  const at::Tensor& target;  // of the form that the loss takes
  // What is right and what was said, by the loss; not defined where targets are numbers.
  const Answers& answers;
  // Of classes or labels, by the loss (Loss::Probabilities); not defined where it gives none.
  at::Tensor probabilities = {};
  // What each sample counts, double [samples]; not defined where all count the same
  // (train.weighted_metrics).
  at::Tensor weights = {};
  // The counts that metrics of classes and labels share, made by the first of them that is added
  // (metrics/class_counts_internal.cc); not defined before.
  mutable at::Tensor class_counts = {};

  int64_t samples() const { return scores.size(0); }
  // Returns `values`, [samples] or [samples, n], each times what its sample counts.
  at::Tensor Weighted(const at::Tensor& values) const;
  // Returns what all samples count, a double scalar: their number, in CPU memory, where all count
  // the same.
  at::Tensor TotalWeight() const;
};

// Made anew for each evaluation, for targets of one kind. One thread at a time. What it throws
// becomes an error of the evaluation. Add is on the way of every batch, so it should leave its sums
// on the device and read nothing back.
class Metric {
 public:
  virtual ~Metric() = default;

  // Takes in the next batch, which has at least one sample. A metric that ignores `weights` counts
  // all samples the same.
  virtual void Add(const ScoredBatch& batch) = 0;

  // What all batches since it was made give, by name: a number under the metric's own name, and
  // beside it what else there is, as lists or tables: {"f1": 0.8, "f1_of_classes": [...]}. Null
  // stands for what cannot be said. Called after at least one Add.
  virtual Json Values() const = 0;
};

}  // namespace stoker
