#include "stoker/train/metrics/auc.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/softmax.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "stoker/train/core/metric.h"
#include "stoker/train/metrics/class_values_internal.h"

namespace stoker {
namespace {

class AucMetric final : public Metric {
 public:
  explicit AucMetric(TargetKind kind) : labels_(kind == TargetKind::kLabels) {}

  void Add(const ScoredBatch& batch) override {
    const bool each = batch.scores.size(1) == 1 || labels_;
    const at::Tensor scores = each ? batch.scores : at::softmax(batch.scores, 1);
    scores_.push_back(scores.to(at::kCPU).to(at::kFloat));
    targets_.push_back(batch.answers.right.to(at::kCPU));
  }

  Json Values() const override {
    const at::Tensor scores = at::cat(scores_).t().contiguous();
    // A column for each label, or one with all classes.
    const at::Tensor targets = at::cat(targets_).view({scores.size(1), -1}).t().contiguous();
    const auto samples = static_cast<size_t>(scores.size(1));
    std::vector<double> areas;
    for (int64_t c = 0; c < scores.size(0); ++c) {
      // One score is that of class 1, and a label that holds is 1.
      const int64_t number = labels_ || scores.size(0) == 1 ? 1 : c;
      const int64_t* const target =
          targets.data_ptr<int64_t>() + (labels_ ? c * scores.size(1) : 0);
      std::vector<bool> positive(samples);
      for (size_t i = 0; i < samples; ++i) positive[i] = target[i] == number;
      areas.push_back(
          AreaUnderRoc({scores.data_ptr<float>() + c * scores.size(1), samples}, positive));
    }
    return {{"auc", ValueOrNull(MeanOf(areas))}, {"auc_of_classes", ListOf(areas)}};
  }

 private:
  const bool labels_;
  std::vector<at::Tensor> scores_, targets_;  // in CPU memory
};

}  // namespace

bool Auc::Measures(TargetKind kind) { return kind != TargetKind::kNumbers; }

Result<std::shared_ptr<Metric>> Auc::Build(TargetKind kind) const {
  return std::make_shared<AucMetric>(kind);
}

double AreaUnderRoc(std::span<const float> scores, const std::vector<bool>& positive) {
  constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
  if (std::ranges::any_of(scores, [](float score) { return std::isnan(score); })) return kNothing;
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) { return scores[a] < scores[b]; });
  double below = 0, pairs_right = 0, positives = 0;  // below: negatives so far
  for (size_t i = 0; i < order.size();) {
    double equal_negatives = 0, equal_positives = 0;
    const float score = scores[order[i]];
    for (; i < order.size() && scores[order[i]] == score; ++i) {
      (positive[order[i]] ? equal_positives : equal_negatives) += 1;
    }
    pairs_right += equal_positives * (below + equal_negatives / 2);
    below += equal_negatives;
    positives += equal_positives;
  }
  const double pairs = positives * below;
  return pairs > 0 ? pairs_right / pairs : kNothing;
}

}  // namespace stoker
