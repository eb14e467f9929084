// A metric of your own: `metrics: [{sure: {above: 0.9}}]`.
#pragma once

#include <ATen/ops/softmax.h>

#include "stoker/run/registry.h"
#include "stoker/train/core/metric.h"

namespace own {

// Counts the samples whose right class has a probability above a bound, each by its weight where
// samples have weights (train.weighted_metrics).
class SureMetric final : public stoker::Metric {
 public:
  explicit SureMetric(double above) : above_(above) {}

  void Add(const stoker::ScoredBatch& batch) override {
    const at::Tensor of_right =
        at::softmax(batch.scores, 1).gather(1, batch.answers.right.unsqueeze(1));
    const at::Tensor sure = batch.Weighted(of_right.gt(above_)).sum();
    const at::Tensor weight = batch.TotalWeight();
    sure_ = sure_.defined() ? sure_ + sure : sure;
    weight_ = weight_.defined() ? weight_ + weight : weight;
  }
  stoker::Json Values() const override {
    return {{"sure", sure_.item<double>() / weight_.item<double>()}};
  }

 private:
  const double above_;
  at::Tensor sure_, weight_;  // of the sure samples, on the device, and of all
};

struct Sure {
  static constexpr std::string_view kName = "sure";
  static constexpr std::string_view kHelp = "Share of samples whose right class is almost certain.";
  static constexpr stoker::Better kBetter = stoker::Better::kHigher;
  static constexpr bool Measures(stoker::TargetKind kind) {
    return kind == stoker::TargetKind::kClass;
  }
  double above = 0.9;

  static void Describe(stoker::OptionTable<Sure>& table) {
    table.Field("above", &Sure::above, "a probability that counts", stoker::Between(0, 1));
  }
  stoker::Result<std::shared_ptr<stoker::Metric>> Build(stoker::TargetKind /*kind*/) const {
    return std::make_shared<SureMetric>(above);
  }
};

}  // namespace own
