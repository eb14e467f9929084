// mse, rmse, mae and r2.
#include <cmath>
#include <limits>

#include "stoker/train/core/metric.h"
#include "stoker/train/metrics/class_values_internal.h"
#include "stoker/train/metrics/mean_absolute_error.h"
#include "stoker/train/metrics/mean_squared_error.h"
#include "stoker/train/metrics/r2.h"
#include "stoker/train/metrics/root_mean_squared_error.h"

namespace stoker {
namespace {

class MeanError final : public Metric {
 public:
  // The mean of Part of each difference, then `Whole` of it.
  using Part = at::Tensor (*)(const at::Tensor& off);
  using Whole = double (*)(double mean);
  MeanError(std::string_view name, Part part, Whole whole)
      : name_(name), part_(part), whole_(whole) {}

  void Add(const ScoredBatch& batch) override {
    const at::Tensor off =
        (batch.scores - WantedScores(batch.target, batch.scores)).to(at::kDouble);
    mean_.Add(batch.Weighted(part_(off)).sum(), batch.TotalWeight() * batch.scores.size(1));
  }

  Json Values() const override { return {{name_, ValueOrNull(whole_(mean_.Value()))}}; }

 private:
  const std::string name_;
  const Part part_;
  const Whole whole_;
  BatchesMean mean_;  // of the parts
};

at::Tensor Squares(const at::Tensor& off) { return off.square(); }
at::Tensor Sizes(const at::Tensor& off) { return off.abs(); }
double Itself(double mean) { return mean; }
double Root(double mean) { return std::sqrt(mean); }

// Means and squared distances from them are merged batch by batch (Chan, Golub and LeVeque, 1979),
// since the difference of large sums would lose the digits of a target far from 0.
class R2Metric final : public Metric {
 public:
  void Add(const ScoredBatch& batch) override {
    const at::Tensor wanted = WantedScores(batch.target, batch.scores).to(at::kDouble);
    const at::Tensor off = batch.Weighted((batch.scores.to(at::kDouble) - wanted).square()).sum(0);
    const at::Tensor weight = batch.TotalWeight();
    const at::Tensor mean = batch.Weighted(wanted).sum(0) / OrLeast(weight);
    const at::Tensor apart = batch.Weighted((wanted - mean).square()).sum(0);
    if (!mean_.defined()) {
      off_ = off;
      mean_ = mean;
      apart_ = apart;
      weight_ = weight;
      return;
    }
    const at::Tensor between = mean - mean_;
    const at::Tensor share = weight / OrLeast(weight_ + weight);
    off_ = off_ + off;
    apart_ = apart_ + apart + between.square() * (weight_ * share);
    mean_ = mean_ + between * share;
    weight_ = weight_ + weight;
  }

  Json Values() const override {
    const at::Tensor off = off_.to(at::kCPU), apart = apart_.to(at::kCPU);
    std::vector<double> of_numbers;
    for (int64_t i = 0; i < off.size(0); ++i) {
      const double whole = apart[i].item<double>();
      of_numbers.push_back(whole > 0 ? 1 - off[i].item<double>() / whole
                                     : std::numeric_limits<double>::quiet_NaN());
    }
    Json values = {{R2::kName, ValueOrNull(MeanOf(of_numbers))}};
    if (of_numbers.size() > 1) values["r2_of_numbers"] = ListOf(of_numbers);
    return values;
  }

 private:
  // A batch may weigh nothing.
  static at::Tensor OrLeast(const at::Tensor& weight) {
    return weight.clamp_min(std::numeric_limits<double>::min());
  }

  at::Tensor weight_;  // of the samples so far
  // Double [numbers]: squared errors, means, squared distances from these.
  at::Tensor off_, mean_, apart_;
};

}  // namespace

bool MeanSquaredError::Measures(TargetKind /*kind*/) { return true; }
bool RootMeanSquaredError::Measures(TargetKind /*kind*/) { return true; }
bool MeanAbsoluteError::Measures(TargetKind /*kind*/) { return true; }
bool R2::Measures(TargetKind kind) { return kind == TargetKind::kNumbers; }

Result<std::shared_ptr<Metric>> MeanSquaredError::Build(TargetKind /*kind*/) const {
  return std::make_shared<MeanError>(kName, Squares, Itself);
}

Result<std::shared_ptr<Metric>> RootMeanSquaredError::Build(TargetKind /*kind*/) const {
  return std::make_shared<MeanError>(kName, Squares, Root);
}

Result<std::shared_ptr<Metric>> MeanAbsoluteError::Build(TargetKind /*kind*/) const {
  return std::make_shared<MeanError>(kName, Sizes, Itself);
}

Result<std::shared_ptr<Metric>> R2::Build(TargetKind /*kind*/) const {
  return std::make_shared<R2Metric>();
}

}  // namespace stoker
