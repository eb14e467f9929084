// PlannedTimes: where the time of the whole run goes that a recipe plans, from what was measured of
// a part of it.
#pragma once

#include "stoker/doctor/run_profile.h"

namespace stoker {

// Seconds of the whole run.
struct PlannedTimes {
  double startup = 0;
  double wait = 0;     // of steps, for data
  double compute = 0;  // the rest of steps
  double logging = 0, callbacks = 0;
  double evaluation = 0;
  double checkpoint = 0;
  double gap = 0;  // between epochs

  double total() const {
    return startup + wait + compute + logging + callbacks + evaluation + checkpoint + gap;
  }
};

// Times that are negative or not finite count as 0.
PlannedTimes PlannedTimesOf(const TrainingProfile& training);

// Returns the samples of the planned run by its seconds: what --fix compares. 0 if unknown.
double PlannedSamplesPerSecond(const TrainingProfile& training);

// Returns `value`, or 0 if it is negative or not finite.
double Sane(double value);

// Returns how many times as fast a run of `total` seconds is without `saved` of them: 1 for
// anything that makes no sense, 100 at most.
double GainOf(double total, double saved);

}  // namespace stoker
