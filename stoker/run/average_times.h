// AverageTimes: the steps after which weights are averaged (train.average).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "stoker/run/recipe.h"
#include "stoker/run/schedule.h"

namespace stoker {

// One update follows each step that is at least `first` and a multiple of `every`.
struct AverageTimes {
  int64_t first = 0;
  int64_t every = 1;

  AverageTimes(const AverageOptions& options, const SchedulePlan& plan) {
    const bool swa = options.kind == "swa";
    const double start = options.start.value_or(swa ? 0.75 : 0.0);
    first = static_cast<int64_t>(std::floor(start * static_cast<double>(plan.total_steps))) + 1;
    every = options.every.value_or(swa ? plan.steps_per_epoch : 1);
  }

  // Returns how many updates a run of `steps` steps makes.
  int64_t UpdatesIn(int64_t steps) const {
    return std::max<int64_t>(steps / every - (first - 1) / every, 0);
  }
};

}  // namespace stoker
