// Formats the metrics of an evaluation.
#pragma once

#include <string>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/train/predict/predictor.h"

namespace stoker {

// Returns one row a metric, name first; for metrics by class, one cell a class, below a row with
// the names of the classes; for the confusion matrix, one row a class. Tables, which are JSON
// objects, are left out; nothing for null.
//   classes  their names (data.classes); a class without a name has its number
std::vector<std::vector<std::string>> MetricRows(const Json& metrics,
                                                 const std::vector<std::string>& classes);

// Returns the same where there are several targets (FigureOfTarget): the rows of one after those of
// the other, each named by its target. Of none the above.
std::vector<std::vector<std::string>> MetricRows(const Json& metrics,
                                                 const std::vector<std::string>& classes,
                                                 const std::vector<PredictedTarget>& targets);

}  // namespace stoker
