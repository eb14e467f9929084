// MetricSet: the metrics of one evaluation that a recipe asks for.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/run/registry.h"
#include "stoker/train/core/metric.h"
#include "stoker/train/core/target.h"

namespace stoker {

// One thread at a time.
class MetricSet {
 public:
  // Whether each of the metrics has a meaning for such targets. Errors: kInvalidArgument, which
  // names those that have.
  //   target  the name of one of several
  static Status CheckFor(const std::vector<MetricRegistry::Configured>& metrics, TargetKind kind,
                         std::string_view target = {});

  // Errors: those of CheckFor and of the metrics.
  static Result<MetricSet> Create(const std::vector<MetricRegistry::Configured>& metrics,
                                  TargetKind kind, std::string_view target = {});

  // Errors: what a metric throws, with its name.
  Status Add(const ScoredBatch& batch);

  // Returns {"top5": 0.99, "f1": 0.8, "f1_of_classes": [...], ...}; null where there are none.
  // Errors, with the metric's name: what it throws; kInvalidArgument where a value of its own name
  // is missing, or it uses a name that another metric has used.
  Result<Json> Values() const;

 private:
  struct NamedMetric {
    MetricRegistry::Configured kind;
    std::shared_ptr<Metric> metric;
  };

  std::vector<NamedMetric> metrics_;
  bool empty_ = true;  // no batch was added
};

}  // namespace stoker
