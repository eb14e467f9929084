// A metric of your own: `metrics: [{sure: {above: 0.9}}]`.
#pragma once

#include <ATen/ops/softmax.h>

#include "stoker/run/registry.h"
#include "stoker/train/core/metric.h"

namespace own {

// Counts the samples whose right class has a probability above a bound.
class SureMetric final : public stoker::Metric {
 public:
  explicit SureMetric(double above) : above_(above) {}

  void Add(const stoker::ScoredBatch& batch) override {
    const at::Tensor of_right =
        at::softmax(batch.scores, 1).gather(1, batch.answers.right.unsqueeze(1));
    const at::Tensor sure = of_right.gt(above_).sum();
    sure_ = sure_.defined() ? sure_ + sure : sure;
    samples_ += batch.scores.size(0);
  }
  stoker::Json Values() const override {
    return {{"sure", sure_.item<double>() / static_cast<double>(samples_)}};
  }

 private:
  const double above_;
  int64_t samples_ = 0;
  at::Tensor sure_;  // of samples_, on the device
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
