// TuneReport: what the tuner tried, gained and kept. Needs no torch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/run/choices.h"

namespace stoker {

// One alternative.
// The verdict on a change for which no time was left.
inline constexpr std::string_view kNoTimeLeft = "not tried: no time was left";

struct TuneTrial {
  std::string change;   // "precision: bf16"; of the first, "begin"
  Choices choices;      // with the change
  double step_ms = 0;   // median; 0 where it was not timed
  double gain = 0;      // median of the best before, timed in turns with it, by this one's
  int64_t steps = 0;    // timed
  bool kept = false;    // it was the best from then on
  std::string verdict;  // why it was kept or not: "kept", "no faster", "not tried: ...", ...
};

struct TuneReport {
  std::vector<TuneTrial> trials;  // empty where nothing was timed; else the first is what it began
                                  // with, and the last that was kept is the choice
  double seconds = 0;             // that tuning took
  double limit_seconds = 0;       // that it was to take at most
  double planned_seconds = 0;     // of the run's steps, by those timed
  std::string reason;             // of the choice, in one sentence
  bool as_before = false;         // a run goes on, and keeps what was chosen when it began

  // A table for people: alternative, milliseconds a step, gain, verdict. Empty where nothing was
  // timed.
  std::string ToText() const;
  Json ToJson() const;
};

}  // namespace stoker
