// Metrics: how good scores are, in terms people use.
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
//   confusion  counts: row i, column j has the samples of class i that were taken for class j
//   precision, recall, f1
//              of each class, and their means over the classes there are samples of or predictions
//              for; where something is divided by nothing it is 0
//   auc        area under the receiver operating characteristic of each class against all others,
//              by the softmax of the scores (the score itself where there is one), equal scores
//              half right; and the mean over the classes that can have one. Keeps all scores.
//   mse, mae   mean squared and absolute difference of the scores from what they should be
//              (WantedScores): the target's numbers, or 1 at its class and 0 elsewhere, or the
//              class number itself where there is one score
// Of shares, the class is that of the greatest. Of labels, precision, recall, f1 and auc are those
// of each label, by whether it holds and whether it is said to (Answers), and there is neither topK
// nor confusion. Of numbers there are mse and mae.
//
// One thread at a time. Add throws c10::Error.
class MetricSet {
 public:
  // Errors: kInvalidArgument for a name that has no meaning for such targets, with those that have.
  static Status CheckFor(const std::vector<std::string>& names, TargetKind kind);

  // `names` as CheckMetricNames and CheckFor allow them.
  explicit MetricSet(const std::vector<std::string>& names, TargetKind kind = TargetKind::kClass);

  //   answers  of these scores and this target
  // Sums stay on the device.
  void Add(const at::Tensor& scores, const Answers& answers, const at::Tensor& target);

  // {"top5": 0.99, "f1": 0.8, "f1_of_classes": [...], ...}; null where there are none.
  Json Values() const;

 private:
  void AddSum(const std::string& name, const at::Tensor& sum);
  void AddCounts(int64_t outputs, const Answers& answers);
  bool Wants(std::string_view name) const;
  Json OfCounts() const;
  Json OfScores() const;

  std::vector<std::string> names_;
  TargetKind kind_;
  bool counts_ = false;  // whether a name is made of the counts
  int64_t samples_ = 0;
  int64_t columns_ = 1;           // scores of a sample
  std::vector<at::Tensor> sums_;  // of names_, where that is a mean
  // int64 [classes, classes], the confusion matrix; or of labels [3, labels]: how often each holds
  // and is said to, holds, is said to.
  at::Tensor counted_;
  std::vector<at::Tensor> probabilities_, targets_;  // for auc, in CPU memory
};

// The probability that a positive has a higher score than a negative, equal scores counting half
// (Mann and Whitney's U by the number of pairs). NaN where there is no pair.
double AreaUnderRoc(std::span<const float> scores, const std::vector<bool>& positive);

}  // namespace stoker
