// The metrics of an evaluation as people read them.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/json.h"

namespace stoker {

// One row a metric, name first; of metrics by class, one cell a class; of the confusion matrix, one
// row a class. Nothing for null.
std::vector<std::vector<std::string>> MetricRows(const Json& metrics);

}  // namespace stoker
