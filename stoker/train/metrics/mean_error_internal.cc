// mse and mae.
#include "stoker/train/core/metric.h"
#include "stoker/train/metrics/mean_absolute_error.h"
#include "stoker/train/metrics/mean_squared_error.h"

namespace stoker {
namespace {

class MeanError final : public Metric {
 public:
  MeanError(std::string_view name, bool squared) : name_(name), squared_(squared) {}

  void Add(const ScoredBatch& batch) override {
    const at::Tensor off =
        (batch.scores - WantedScores(batch.target, batch.scores)).to(at::kDouble);
    const at::Tensor sum = squared_ ? off.square().sum() : off.abs().sum();
    sum_ = sum_.defined() ? sum_ + sum : sum;
    values_ += batch.scores.numel();
  }

  Json Values() const override {
    return {{name_, sum_.item<double>() / static_cast<double>(values_)}};
  }

 private:
  const std::string name_;
  const bool squared_;
  int64_t values_ = 0;
  at::Tensor sum_;  // over values_
};

}  // namespace

bool MeanSquaredError::Measures(TargetKind /*kind*/) { return true; }
bool MeanAbsoluteError::Measures(TargetKind /*kind*/) { return true; }

Result<std::shared_ptr<Metric>> MeanSquaredError::Build(TargetKind /*kind*/) const {
  return std::make_shared<MeanError>(kName, /*squared=*/true);
}

Result<std::shared_ptr<Metric>> MeanAbsoluteError::Build(TargetKind /*kind*/) const {
  return std::make_shared<MeanError>(kName, /*squared=*/false);
}

}  // namespace stoker
