// auc and pr_auc: how well scores rank.
#include "stoker/train/metrics/auc.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/softmax.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <ranges>

#include "stoker/train/core/metric.h"
#include "stoker/train/metrics/class_values_internal.h"
#include "stoker/train/metrics/pr_auc.h"

namespace stoker {
namespace {

// A figure of how well the scores of each class, or label, tell its samples from all others.
class RankingMetric final : public Metric {
 public:
  using Figure = double (*)(std::span<const float> scores, const std::vector<bool>& positive,
                            std::span<const double> weights);
  RankingMetric(std::string_view name, Figure figure, TargetKind kind)
      : name_(name), figure_(figure), labels_(kind == TargetKind::kLabels) {}

  void Add(const ScoredBatch& batch) override {
    const bool each = batch.scores.size(1) == 1 || labels_;
    const at::Tensor scores = each ? batch.scores : at::softmax(batch.scores, 1);
    scores_.push_back(scores.to(at::kCPU).to(at::kFloat));
    targets_.push_back(batch.answers.right.to(at::kCPU));
    if (batch.weights.defined()) weights_.push_back(batch.weights.to(at::kCPU));
  }

  Json Values() const override {
    const at::Tensor scores = at::cat(scores_).t().contiguous();
    // A column for each label, or one with all classes.
    const at::Tensor targets = at::cat(targets_).view({scores.size(1), -1}).t().contiguous();
    const auto samples = static_cast<size_t>(scores.size(1));
    const at::Tensor weights = weights_.empty() ? at::Tensor() : at::cat(weights_);
    std::span<const double> weight;
    if (weights.defined()) weight = {weights.const_data_ptr<double>(), samples};
    std::vector<double> figures;
    for (int64_t c = 0; c < scores.size(0); ++c) {
      // One score is that of class 1, and a label that holds is 1.
      const int64_t number = labels_ || scores.size(0) == 1 ? 1 : c;
      const int64_t* const target =
          targets.data_ptr<int64_t>() + (labels_ ? c * scores.size(1) : 0);
      std::vector<bool> positive(samples);
      for (size_t i = 0; i < samples; ++i) positive[i] = target[i] == number;
      figures.push_back(
          figure_({scores.data_ptr<float>() + c * scores.size(1), samples}, positive, weight));
    }
    return {{name_, ValueOrNull(MeanOf(figures))}, {name_ + "_of_classes", ListOf(figures)}};
  }

 private:
  const std::string name_;
  const Figure figure_;
  const bool labels_;
  std::vector<at::Tensor> scores_, targets_, weights_;  // in CPU memory
};

// Positives and negatives among equal scores, or what they weigh.
struct EqualScores {
  double positives = 0, negatives = 0;
};

// In ascending order of the scores; nothing where one is NaN.
std::optional<std::vector<EqualScores>> ByScore(std::span<const float> scores,
                                                const std::vector<bool>& positive,
                                                std::span<const double> weights) {
  if (std::ranges::any_of(scores, [](float score) { return std::isnan(score); }))
    return std::nullopt;
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) { return scores[a] < scores[b]; });
  std::vector<EqualScores> groups;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || scores[order[i]] != scores[order[i - 1]]) groups.push_back({});
    (positive[order[i]] ? groups.back().positives : groups.back().negatives) +=
        weights.empty() ? 1 : weights[order[i]];
  }
  return groups;
}

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

}  // namespace

bool Auc::Measures(TargetKind kind) { return kind != TargetKind::kNumbers; }

Result<std::shared_ptr<Metric>> Auc::Build(TargetKind kind) const {
  return std::make_shared<RankingMetric>(kName, AreaUnderRoc, kind);
}

bool PrAuc::Measures(TargetKind kind) { return kind != TargetKind::kNumbers; }

Result<std::shared_ptr<Metric>> PrAuc::Build(TargetKind kind) const {
  return std::make_shared<RankingMetric>(kName, AveragePrecision, kind);
}

double AreaUnderRoc(std::span<const float> scores, const std::vector<bool>& positive,
                    std::span<const double> weights) {
  const auto groups = ByScore(scores, positive, weights);
  if (!groups) return kNothing;
  double pairs_right = 0, positives = 0, negatives = 0;  // so far
  for (const EqualScores& equal : *groups) {
    pairs_right += equal.positives * (negatives + equal.negatives / 2);
    positives += equal.positives;
    negatives += equal.negatives;
  }
  const double pairs = positives * negatives;
  return pairs > 0 ? pairs_right / pairs : kNothing;
}

double AveragePrecision(std::span<const float> scores, const std::vector<bool>& positive,
                        std::span<const double> weights) {
  const auto groups = ByScore(scores, positive, weights);
  if (!groups) return kNothing;
  double sum = 0, positives = 0, taken = 0;  // of scores that are as high or higher
  for (const EqualScores& equal : std::views::reverse(*groups)) {
    positives += equal.positives;
    taken += equal.positives + equal.negatives;
    if (equal.positives > 0) sum += equal.positives * positives / taken;
  }
  return positives > 0 ? sum / positives : kNothing;
}

}  // namespace stoker
