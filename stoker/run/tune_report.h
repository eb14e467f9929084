// TuneReport: the tuner's trials, gains and choices. Needs no torch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/run/choices.h"

namespace stoker {

// The verdict on a change for which no time was left.
inline constexpr std::string_view kNoTimeLeft = "not tried: no time was left";

struct TuneTrial {
  std::string change;  // "precision: bf16"; "begin" for the first
  Choices choices;     // with the change
  double step_ms = 0;  // median; 0 if not timed
  double gain = 0;     // median of the previous best, timed in turns with it, divided by this one's
  int64_t steps = 0;   // timed
  bool kept = false;   // it was the best from then on
  std::string verdict;  // the reason: "kept", "no faster", "not tried: ...", ...
};

struct TuneReport {
  std::vector<TuneTrial> trials;  // empty if nothing was timed; else the first is what it began
                                  // with, and the last that was kept is the choice
  double seconds = 0;             // the duration of tuning
  double limit_seconds = 0;       // its limit
  double planned_seconds = 0;     // of the run's steps, estimated from those timed
  std::string reason;             // of the choice, in one sentence
  bool as_before = false;         // a resumed run, which keeps its earlier choices

  // Returns a table: alternative, milliseconds a step, gain, verdict. Empty if nothing was timed.
  std::string ToText() const;
  Json ToJson() const;
};

}  // namespace stoker
