// The metrics of an evaluation as people read them.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/json.h"

namespace stoker {

// One row a metric, name first; of metrics by class, one cell a class, below a row with the names
// of the classes; of the confusion matrix, one row a class. Nothing for null.
//   classes  what they are called (data.classes); one without a name has its number
std::vector<std::vector<std::string>> MetricRows(const Json& metrics,
                                                 const std::vector<std::string>& classes);

}  // namespace stoker
