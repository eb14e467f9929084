// Formats the metrics of an evaluation.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/json.h"

namespace stoker {

// Returns one row a metric, name first; for metrics by class, one cell a class, below a row with
// the names of the classes; for the confusion matrix, one row a class. Tables, which are JSON
// objects, are left out; nothing for null.
//   classes  their names (data.classes); a class without a name has its number
std::vector<std::vector<std::string>> MetricRows(const Json& metrics,
                                                 const std::vector<std::string>& classes);

}  // namespace stoker
