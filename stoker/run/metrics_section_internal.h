// The list train.metrics of a recipe.
#pragma once

#include <string_view>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/status.h"
#include "stoker/run/registry.h"

namespace stoker {

// What a list of metrics measures, whatever is wrong with it.
struct ReadMetrics {
  std::vector<MeasuredFigure> measured;  // also those that wrong entries may mean
  bool is_list = true;
};

// Reads the list `metrics`, or one name alone. Entries that are right are in `metrics`, whatever
// the others are.
//   key  what messages call it
Status ParseMetrics(const ConfigNode& section, std::vector<MetricRegistry::Configured>& metrics,
                    ReadMetrics& read, std::string_view key = "train.metrics");

// Returns the value of the key.
ConfigNode FilledMetrics(const std::vector<MetricRegistry::Configured>& metrics);

}  // namespace stoker
