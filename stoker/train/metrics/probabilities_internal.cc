// log_loss and calibration_error: what is made of the probabilities that the loss gives.
#include <ATen/ops/ones_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <limits>

#include "stoker/train/core/metric.h"
#include "stoker/train/metrics/calibration_error.h"
#include "stoker/train/metrics/class_values_internal.h"
#include "stoker/train/metrics/log_loss.h"

namespace stoker {
namespace {

constexpr double kLeastProbability = std::numeric_limits<float>::epsilon();

// Double, [samples, classes], or [samples, labels] where targets are labels.
at::Tensor ProbabilitiesOf(const ScoredBatch& batch, bool labels) {
  TORCH_CHECK_VALUE(batch.probabilities.defined(),
                    "the loss gives no probabilities for these targets; take the metric out");
  const at::Tensor all = batch.probabilities.to(at::kDouble);
  // One output stands for a no and a yes.
  return labels && batch.scores.size(1) == 1 ? all.slice(1, 1, 2) : all;
}

class LogLossMetric final : public Metric {
 public:
  explicit LogLossMetric(TargetKind kind) : kind_(kind) {}

  void Add(const ScoredBatch& batch) override {
    const int64_t answers = kind_ == TargetKind::kLabels ? batch.scores.size(1) : 1;
    mean_.Add(batch.Weighted(LossesOf(batch)).sum(), batch.TotalWeight() * answers);
  }

  Json Values() const override { return {{LogLoss::kName, ValueOrNull(mean_.Value())}}; }

 private:
  at::Tensor LossesOf(const ScoredBatch& batch) const {
    const at::Tensor sure = ProbabilitiesOf(batch, kind_ == TargetKind::kLabels)
                                .clamp(kLeastProbability, 1 - kLeastProbability);
    switch (kind_) {
      case TargetKind::kShares: return -batch.target.to(at::kDouble) * sure.log();
      case TargetKind::kLabels: return -at::where(batch.answers.right.eq(1), sure, 1 - sure).log();
      default: return -sure.gather(1, batch.answers.right.unsqueeze(1)).log();
    }
  }

  const TargetKind kind_;
  BatchesMean mean_;  // of the losses
};

class CalibrationErrorMetric final : public Metric {
 public:
  CalibrationErrorMetric(int64_t bins, bool labels) : bins_(bins), labels_(labels) {}

  void Add(const ScoredBatch& batch) override {
    const at::Tensor probabilities = ProbabilitiesOf(batch, labels_);
    at::Tensor sure, right, weight;
    if (labels_) {
      sure = probabilities.flatten();
      weight = batch.Weighted(at::ones_like(probabilities)).flatten();
      right = batch.answers.right.flatten().to(at::kDouble);
    } else {
      const auto highest = probabilities.max(1);
      sure = std::get<0>(highest);
      weight = batch.Weighted(at::ones_like(sure));
      right = std::get<1>(highest).eq(batch.answers.right).to(at::kDouble);
    }
    // A bin includes its upper bound.
    const at::Tensor bin = (sure * bins_).ceil().sub(1).clamp(0, bins_ - 1).to(at::kLong);
    const at::Tensor each = at::stack({weight, weight * sure, weight * right});
    weighted_ = weighted_ || batch.weights.defined();
    const at::Tensor sums = at::zeros({3, bins_}, sure.options())
                                .scatter_add_(1, bin.unsqueeze(0).expand_as(each), each);
    sums_ = sums_.defined() ? sums_ + sums : sums;
  }

  Json Values() const override {
    const at::Tensor sums = sums_.to(at::kCPU).contiguous();
    const double* const samples = sums.data_ptr<double>();
    double off = 0, all = 0;
    Json counts = Json::array(), probability = Json::array(), right = Json::array();
    for (int64_t i = 0; i < bins_; ++i) {
      const double count = samples[i], sure = samples[bins_ + i], found = samples[2 * bins_ + i];
      off += std::abs(sure - found);
      all += count;
      counts.push_back(weighted_ ? Json(count) : Json(static_cast<int64_t>(count)));
      probability.push_back(count > 0 ? Json(sure / count) : Json());
      right.push_back(count > 0 ? Json(found / count) : Json());
    }
    return {{CalibrationError::kName, ValueOrNull(off / all)},
            {"calibration_error_bins",
             {{"samples", counts}, {"probability", probability}, {"right", right}}}};
  }

 private:
  const int64_t bins_;
  const bool labels_;
  bool weighted_ = false;
  at::Tensor sums_;  // double [3, bins]: samples, probabilities, right answers, by their weights
};

}  // namespace

void CalibrationError::Describe(OptionTable<CalibrationError>& table) {
  table.Field("bins", &CalibrationError::bins, "how many bins", Between(1, 10000));
}

bool LogLoss::Measures(TargetKind kind) { return kind != TargetKind::kNumbers; }
bool CalibrationError::Measures(TargetKind kind) { return kind != TargetKind::kNumbers; }

Result<std::shared_ptr<Metric>> LogLoss::Build(TargetKind kind) const {
  return std::make_shared<LogLossMetric>(kind);
}

Result<std::shared_ptr<Metric>> CalibrationError::Build(TargetKind kind) const {
  return std::make_shared<CalibrationErrorMetric>(bins, kind == TargetKind::kLabels);
}

}  // namespace stoker
