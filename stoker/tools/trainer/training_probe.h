// Trains a recipe for a while and measures where the time goes, for the doctor.
#pragma once

#include <cstdint>
#include <optional>

#include "stoker/base/status.h"
#include "stoker/doctor/run_profile.h"
#include "stoker/run/observer.h"
#include "stoker/run/recipe.h"
#include "stoker/tools/doctor/stop_timer.h"

namespace stoker {

struct TrainingMeasurement {
  std::optional<TrainingProfile> profile;  // nothing if no step has ended
  StartEvent start;                        // of the run, if it began
};

// Trains in a temporary run directory, which is removed, until `seconds` after the first step, the
// end of the run or a signal. The first steps do not count, and neither does the first epoch where
// it is short, because caches are filled in it. Writes what was measured into `out`, also if the
// training fails, whose error is returned.
//   observer  also gets the events; may be null
Status MeasureTraining(const Recipe& recipe, double seconds, StopTimer& timer,
                       TrainObserver* observer, TrainingMeasurement& out);

}  // namespace stoker
