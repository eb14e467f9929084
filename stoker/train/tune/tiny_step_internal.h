#pragma once

#include "stoker/run/schedule.h"

namespace stoker {

// For steps that are timed: they take as long as any, and leave the weights nearly where they are.
constexpr ScheduleValue kTinyStep{.lr = 1e-6, .momentum = {}};

}  // namespace stoker
