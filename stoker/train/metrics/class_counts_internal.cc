// confusion, precision, recall and f1: what is made of the counts of right and wrong answers.
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <limits>

#include "stoker/train/core/metric.h"
#include "stoker/train/metrics/class_values_internal.h"
#include "stoker/train/metrics/confusion.h"
#include "stoker/train/metrics/f1.h"
#include "stoker/train/metrics/precision.h"
#include "stoker/train/metrics/recall.h"

namespace stoker {
namespace {

// How many samples of each class were taken for each, or their weights: int64 or double [classes,
// classes]. Only where there is one score a sample, so that the numbers say how many classes there
// are, is a device waited for.
at::Tensor CountPairs(const ScoredBatch& batch) {
  const int64_t columns = batch.scores.size(1);
  const at::Tensor& predicted = batch.answers.said;
  const at::Tensor& target = batch.answers.right;
  // A regression may predict numbers below any class.
  const at::Tensor taken = columns == 1 ? predicted.clamp_min(0) : predicted;
  const int64_t classes =
      columns > 1 ? columns
                  : std::max(taken.max().item<int64_t>(), target.max().item<int64_t>()) + 1;
  const at::Tensor pairs = target * classes + taken;
  const at::Tensor each = batch.Weighted(at::ones_like(pairs));
  return at::zeros({classes * classes}, each.options())
      .scatter_add_(0, pairs, each)
      .view({classes, classes});
}

// Of each label the true positives, the samples that have it, and the samples for which it was
// predicted: int64 [3, labels], or double where samples have weights.
at::Tensor CountLabels(const ScoredBatch& batch) {
  const Answers& answers = batch.answers;
  return at::stack({batch.Weighted(answers.right * answers.said).sum(0),
                    batch.Weighted(answers.right).sum(0), batch.Weighted(answers.said).sum(0)});
}

// Returns a + b, with as many classes as the larger of both has.
at::Tensor SumOfConfusions(const at::Tensor& a, const at::Tensor& b) {
  const int64_t more = b.size(0) - a.size(0);
  if (more > 0) return at::constant_pad_nd(a, {0, more, 0, more}) + b;
  return a + at::constant_pad_nd(b, {0, -more, 0, -more});
}

double Ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

// Of each class, or label: true positives, the samples that have it, and those for which it was
// predicted.
struct ClassCounts {
  double both = 0, right = 0, said = 0;
};

std::vector<ClassCounts> CountsOfClasses(const at::Tensor& confusion) {
  const at::Tensor counts = confusion.to(at::kCPU).to(at::kDouble).contiguous();
  const auto classes = static_cast<size_t>(counts.size(0));
  const auto at = [&](size_t i, size_t j) { return counts.data_ptr<double>()[i * classes + j]; };
  std::vector<ClassCounts> all(classes);
  for (size_t c = 0; c < classes; ++c) {
    all[c].both = at(c, c);
    for (size_t other = 0; other < classes; ++other) {
      all[c].right += at(c, other);
      all[c].said += at(other, c);
    }
  }
  return all;
}

std::vector<ClassCounts> CountsOfLabels(const at::Tensor& counted) {
  const at::Tensor counts = counted.to(at::kCPU).to(at::kDouble).contiguous();
  const auto labels = static_cast<size_t>(counts.size(1));
  const double* const at = counts.data_ptr<double>();
  std::vector<ClassCounts> all;
  for (size_t i = 0; i < labels; ++i) {
    all.push_back({.both = at[i], .right = at[labels + i], .said = at[2 * labels + i]});
  }
  return all;
}

Json RowsOf(const at::Tensor& confusion) {
  const auto rows_of = [&]<typename Count>(const Count* count) {
    Json rows = Json::array();
    for (int64_t i = 0; i < confusion.size(0); ++i, count += confusion.size(1))
      rows.push_back(std::span(count, static_cast<size_t>(confusion.size(1))));
    return rows;
  };
  const at::Tensor counts = confusion.to(at::kCPU).contiguous();
  if (counts.is_floating_point()) return rows_of(counts.const_data_ptr<double>());
  return rows_of(counts.const_data_ptr<int64_t>());
}

// The counts of all batches.
class CountingMetric : public Metric {
 public:
  explicit CountingMetric(TargetKind kind) : labels_(kind == TargetKind::kLabels) {}

  void Add(const ScoredBatch& batch) override {
    at::Tensor& counts = batch.class_counts;
    if (!counts.defined()) counts = labels_ ? CountLabels(batch) : CountPairs(batch);
    if (!counted_.defined()) {
      counted_ = counts;
    } else {
      counted_ = labels_ ? counted_ + counts : SumOfConfusions(counted_, counts);
    }
  }

 protected:
  const at::Tensor& counted() const { return counted_; }
  std::vector<ClassCounts> OfClasses() const {
    return labels_ ? CountsOfLabels(counted_) : CountsOfClasses(counted_);
  }

 private:
  const bool labels_;
  // The sum of CountPairs, the confusion matrix, or of CountLabels.
  at::Tensor counted_;
};

class ConfusionMetric final : public CountingMetric {
 public:
  using CountingMetric::CountingMetric;
  Json Values() const override { return {{Confusion::kName, RowsOf(counted())}}; }
};

// A ratio of each class, and the mean over the classes that were seen.
class RatioMetric final : public CountingMetric {
 public:
  using RatioOf = double (*)(const ClassCounts& counts);
  RatioMetric(std::string_view name, TargetKind kind, RatioOf ratio)
      : CountingMetric(kind), name_(name), ratio_(ratio) {}

  Json Values() const override {
    std::vector<double> ratios;
    for (const ClassCounts& counts : OfClasses()) {
      const bool seen = counts.right + counts.said > 0;
      ratios.push_back(seen ? ratio_(counts) : std::numeric_limits<double>::quiet_NaN());
    }
    return {{name_, ValueOrNull(MeanOf(ratios))}, {name_ + "_of_classes", ListOf(ratios)}};
  }

 private:
  const std::string name_;
  const RatioOf ratio_;
};

}  // namespace

bool Confusion::Measures(TargetKind kind) {
  return kind == TargetKind::kClass || kind == TargetKind::kShares;
}
bool PrecisionMetric::Measures(TargetKind kind) { return kind != TargetKind::kNumbers; }
bool Recall::Measures(TargetKind kind) { return kind != TargetKind::kNumbers; }
bool F1::Measures(TargetKind kind) { return kind != TargetKind::kNumbers; }

Result<std::shared_ptr<Metric>> Confusion::Build(TargetKind kind) const {
  return std::make_shared<ConfusionMetric>(kind);
}

Result<std::shared_ptr<Metric>> PrecisionMetric::Build(TargetKind kind) const {
  return std::make_shared<RatioMetric>(
      kName, kind, [](const ClassCounts& counts) { return Ratio(counts.both, counts.said); });
}

Result<std::shared_ptr<Metric>> Recall::Build(TargetKind kind) const {
  return std::make_shared<RatioMetric>(
      kName, kind, [](const ClassCounts& counts) { return Ratio(counts.both, counts.right); });
}

Result<std::shared_ptr<Metric>> F1::Build(TargetKind kind) const {
  return std::make_shared<RatioMetric>(kName, kind, [](const ClassCounts& counts) {
    return Ratio(2 * counts.both, counts.right + counts.said);
  });
}

}  // namespace stoker
