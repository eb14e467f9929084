// The names of metrics that train.metrics may list; metrics.h says what each measures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

// For messages.
inline constexpr std::string_view kMetricNames =
    "topK (such as top5), confusion, precision, recall, f1, auc, mse, mae";

// Errors: kInvalidArgument for each unknown name, with the known ones, and for each repeated name
// (base/problems.h).
Status CheckMetricNames(const std::vector<std::string>& names);

// Returns the K of "topK"; nothing if `name` is not such a name.
std::optional<int64_t> TopOfMetric(std::string_view name);

// Returns whether it is computed from counts of right and wrong answers.
bool IsMetricOfCounts(std::string_view name);

}  // namespace stoker
