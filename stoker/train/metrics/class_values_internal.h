// What metrics of single classes have in common.
#pragma once

#include <vector>

#include "stoker/base/json.h"

namespace stoker {

// The mean of the values that are numbers; NaN where there is none.
double MeanOf(const std::vector<double>& values);

// A value of JSON, which has no NaN: null stands for what cannot be said.
Json ValueOrNull(double value);
Json ListOf(const std::vector<double>& values);

}  // namespace stoker
