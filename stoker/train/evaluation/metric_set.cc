#include "stoker/train/evaluation/metric_set.h"

namespace stoker {

Status MetricSet::CheckFor(const std::vector<MetricRegistry::Configured>& metrics,
                           TargetKind kind) {
  const MetricRegistry& registry = MetricRegistry::Known();
  for (const MetricRegistry::Configured& metric : metrics) {
    if (registry.Measures(metric, kind)) continue;
    return InvalidArgument(
        "train.metrics: '{}' says nothing of {}, which the targets of evaluations are; for those "
        "there are {}; take it out",
        metric.name, TargetKindName(kind), registry.NamesFor(kind));
  }
  return OkStatus();
}

Result<MetricSet> MetricSet::Create(const std::vector<MetricRegistry::Configured>& metrics,
                                    TargetKind kind) {
  STOKER_RETURN_IF_ERROR(CheckFor(metrics, kind));
  MetricSet set;
  for (const MetricRegistry::Configured& metric : metrics) {
    STOKER_ASSIGN_OR_RETURN(set.metrics_.emplace_back(), metric.build(kind));
  }
  return set;
}

void MetricSet::Add(const ScoredBatch& batch) {
  empty_ = false;
  for (const std::shared_ptr<Metric>& metric : metrics_) metric->Add(batch);
}

Json MetricSet::Values() const {
  if (metrics_.empty() || empty_) return nullptr;
  Json values = Json::object();
  for (const std::shared_ptr<Metric>& metric : metrics_) values.update(metric->Values());
  return values;
}

}  // namespace stoker
