#include "stoker/train/metrics/top.h"

#include <algorithm>

#include "stoker/train/core/metric.h"
#include "stoker/train/metrics/class_values_internal.h"

namespace stoker {
namespace {

class TopMetric final : public Metric {
 public:
  explicit TopMetric(int64_t k) : k_(k) {}

  void Add(const ScoredBatch& batch) override {
    const at::Tensor& scores = batch.scores;
    const auto highest = scores.topk(std::min(k_, scores.size(1)), 1);
    const at::Tensor among = std::get<1>(highest).eq(batch.answers.right.unsqueeze(1)).any(1);
    found_.Add(batch.Weighted(among).sum(), batch.TotalWeight());
  }

  Json Values() const override { return {{fmt::format("top{}", k_), ValueOrNull(found_.Value())}}; }

 private:
  const int64_t k_;
  BatchesMean found_;  // how many samples were right, of all
};

}  // namespace

void Top::Describe(OptionTable<Top>& table) {
  table.Field("k", &Top::k, "among how many of the highest", AtLeast(1));
}

bool Top::Measures(TargetKind kind) {
  return kind == TargetKind::kClass || kind == TargetKind::kShares;
}

Result<std::shared_ptr<Metric>> Top::Build(TargetKind /*kind*/) const {
  return std::make_shared<TopMetric>(k);
}

}  // namespace stoker
