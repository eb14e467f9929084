// Metrics of a model's scores.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/train/core/loss.h"
#include "stoker/train/core/target.h"

namespace stoker {

// The metrics of one evaluation that a recipe asks for by name (train.metrics):
//   topK       (top3, top5, ...) share of samples with the target among the K highest scores
//   confusion  counts: row i, column j counts the samples of class i that were predicted as class j
//   precision, recall, f1
//              of each class, and their means over the classes with samples or predictions; 0 if a
//              divisor is 0
//   auc        area under the receiver operating characteristic of each class against all others,
//              by the softmax of the scores (a single score itself), equal scores count half; and
//              the mean over the classes for which it is defined. Keeps all scores.
//   mse, mae   mean squared and absolute difference of the scores from WantedScores: the target's
//              numbers, or 1 at its class and 0 elsewhere, or the class number itself for one score
// For shares, the class is that of the greatest. For labels, precision, recall, f1 and auc are
// those of each label, by its target and prediction (Answers), and there is neither topK nor
// confusion. For numbers there are mse and mae.
//
// One thread at a time. Add throws c10::Error.
class MetricSet {
 public:
  // Errors: kInvalidArgument for a name that is undefined for such targets, with those that are
  // defined.
  static Status CheckFor(const std::vector<std::string>& names, TargetKind kind);

  // REQUIRES: `names` passed CheckMetricNames and CheckFor.
  explicit MetricSet(const std::vector<std::string>& names, TargetKind kind = TargetKind::kClass);

  //   answers  of these scores and this target
  // Keeps sums on the device.
  void Add(const at::Tensor& scores, const Answers& answers, const at::Tensor& target);

  // {"top5": 0.99, "f1": 0.8, "f1_of_classes": [...], ...}; null if there are none.
  Json Values() const;

 private:
  void AddSum(const std::string& name, const at::Tensor& sum);
  void AddCounts(int64_t outputs, const Answers& answers);
  bool Wants(std::string_view name) const;
  Json OfCounts() const;
  Json OfScores() const;

  std::vector<std::string> names_;
  TargetKind kind_;
  bool counts_ = false;  // whether a metric uses the counts
  int64_t samples_ = 0;
  int64_t columns_ = 1;           // scores of a sample
  std::vector<at::Tensor> sums_;  // of those of names_ that are means
  // int64 [classes, classes], the confusion matrix; or for labels [3, labels]: the numbers of true
  // positives, of positives and of predictions.
  at::Tensor counted_;
  std::vector<at::Tensor> probabilities_, targets_;  // for auc, in CPU memory
};

// Returns the probability that a positive has a higher score than a negative, equal scores counting
// half (Mann and Whitney's U divided by the number of pairs). NaN if there is no pair.
double AreaUnderRoc(std::span<const float> scores, const std::vector<bool>& positive);

}  // namespace stoker
