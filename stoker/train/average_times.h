// When weights are averaged (train.average).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "stoker/train/recipe.h"
#include "stoker/train/schedule.h"

namespace stoker {

// The steps at which weights are averaged.
struct AverageTimes {
  int64_t first = 0;  // steps before this one are no updates
  int64_t every = 1;

  AverageTimes(const AverageOptions& options, const SchedulePlan& plan) {
    const bool swa = options.kind == "swa";
    const double start = options.start.value_or(swa ? 0.75 : 0.0);
    first = static_cast<int64_t>(std::floor(start * static_cast<double>(plan.total_steps))) + 1;
    every = options.every.value_or(swa ? plan.steps_per_epoch : 1);
  }

  // Of a run of `steps`, from 1.
  int64_t UpdatesIn(int64_t steps) const {
    return std::max<int64_t>(steps / every - (first - 1) / every, 0);
  }
};

}  // namespace stoker
