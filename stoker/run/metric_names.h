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

// Errors: kInvalidArgument for each name that is none of these, with those there are, and for each
// that is there twice (base/problems.h).
Status CheckMetricNames(const std::vector<std::string>& names);

// The K of "topK"; nothing where `name` is none.
std::optional<int64_t> TopOfMetric(std::string_view name);

// Whether it is made of the counts of right and wrong answers.
bool IsMetricOfCounts(std::string_view name);

}  // namespace stoker
