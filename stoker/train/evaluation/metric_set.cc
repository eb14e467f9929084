#include "stoker/train/evaluation/metric_set.h"

#include "stoker/base/problems.h"
#include "stoker/device/torch_error.h"
#include "stoker/run/build_kind.h"

namespace stoker {
namespace {

Status OfMetric(std::string_view name, const Status& status) {
  return WithPrefix(fmt::format("metric '{}': ", name), status);
}

// Whether the values of one metric can stand beside `others`, those of the metrics before it.
Status CheckValues(const MetricRegistry::Configured& kind, const Json& values, const Json& others) {
  if (!values.is_object()) {
    return InvalidArgument("its values are {}, not an object; correct its Values",
                           values.type_name());
  }
  const auto own = values.find(kind.name);
  const bool is_figure = own != values.end() && (own->is_number() || own->is_null());
  if (own == values.end() || (kind.better != Better::kNeither && !is_figure)) {
    return InvalidArgument("among its values there is no {} called '{}'; correct its Values",
                           kind.better == Better::kNeither ? "value" : "number", kind.name);
  }
  for (const auto& [name, value] : values.items()) {
    if (!others.contains(name)) continue;
    return InvalidArgument("its value '{}' has the name of another metric's; rename it", name);
  }
  return OkStatus();
}

}  // namespace

Status MetricSet::CheckFor(const std::vector<MetricRegistry::Configured>& metrics, TargetKind kind,
                           std::string_view target) {
  const std::string key =
      target.empty() ? "train.metrics" : fmt::format("train.target.{}.metrics", target);
  for (const MetricRegistry::Configured& metric : metrics) {
    if (metric.measures(kind)) continue;
    return InvalidArgument(
        "{}: '{}' is not defined for {}, the targets of evaluations; for those there are {}; take "
        "it out",
        key, metric.name, TargetKindName(kind), MetricRegistry::Known().NamesFor(kind));
  }
  return OkStatus();
}

Result<MetricSet> MetricSet::Create(const std::vector<MetricRegistry::Configured>& metrics,
                                    TargetKind kind, std::string_view target) {
  STOKER_RETURN_IF_ERROR(CheckFor(metrics, kind, target));
  MetricSet set;
  for (const MetricRegistry::Configured& metric : metrics) {
    STOKER_ASSIGN_OR_RETURN(std::shared_ptr<Metric> made, BuildKind(metric, kind));
    set.metrics_.push_back({.kind = metric, .metric = std::move(made)});
  }
  return set;
}

Status MetricSet::Add(const ScoredBatch& batch) {
  empty_ = false;
  for (const NamedMetric& each : metrics_) {
    STOKER_RETURN_IF_ERROR(
        OfMetric(each.kind.name, CatchTorchErrors([&] { each.metric->Add(batch); })));
  }
  return OkStatus();
}

Result<Json> MetricSet::Values() const {
  if (metrics_.empty() || empty_) return Json(nullptr);
  Json values = Json::object();
  for (const NamedMetric& each : metrics_) {
    Json own;
    STOKER_RETURN_IF_ERROR(
        OfMetric(each.kind.name, CatchTorchErrors([&] { own = each.metric->Values(); })));
    STOKER_RETURN_IF_ERROR(OfMetric(each.kind.name, CheckValues(each.kind, own, values)));
    values.update(own);
  }
  return values;
}

}  // namespace stoker
