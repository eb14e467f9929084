// The search of the tuner: which alternatives are timed, in which order, for how long, and which
// are kept. What times them is behind an interface. Needs no torch.
//
// Greedy: from what the run would begin with, one thing is changed at a time, timed in turns with
// the best so far, and kept where it is faster by more than the noise. Things that help only
// together are not found; trying all combinations would take their product of the time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/run/choices.h"
#include "stoker/run/tune_report.h"

namespace stoker {

// What is timed: a step with one batch that stays on the device, or with the batches of the
// pipeline, as they come.
enum class StepKind { kComputing, kWithData };

// One change of the best so far.
struct Alternative {
  std::string change;  // "precision: bf16"
  Choices choices;     // the best so far, with the change
  // Why it is not possible here, for people: then it is reported, but not timed.
  std::string obstacle = {};
};

// One thing that is open.
struct Knob {
  StepKind kind = StepKind::kComputing;
  std::function<std::vector<Alternative>(const Choices& best)> alternatives;
};

// Milliseconds of single steps.
using StepTimes = std::vector<double>;

// What times steps. One thread at a time.
class ChoiceTimer {
 public:
  virtual ~ChoiceTimer() = default;

  // Of a few steps with what the run would begin with: how long all of it will take. Where one step
  // alone takes so long that no comparison fits into `most_seconds`, of that one.
  virtual Result<StepTimes> Begin(const Choices& first, double most_seconds) = 0;

  // Times both in turns for about `seconds`, less where more would not make it more certain. Takes
  // a few steps of each at least, unless `most_seconds` pass first, because steps become slower
  // where the machine is busy with other work. An error is one of `other`: `best` has been timed
  // before. kCancelled: `most_seconds` have passed before both had enough steps.
  struct Compared {
    StepTimes best, other;
  };
  virtual Result<Compared> Compare(const Choices& best, const Choices& other, StepKind kind,
                                   double seconds, double most_seconds) = 0;

  // What Compare takes at least, where a step of the best takes `step_ms`.
  virtual double LeastSeconds(StepKind kind, double step_ms) const = 0;

  // Since Begin, or a little later.
  virtual double ElapsedSeconds() const = 0;
};

// Tuning takes at most the smaller of these, plus one step or the making of a model.
struct TuneLimits {
  double batches = 0;   // that the whole run goes through
  double share = 0.03;  // of the time that these will take
  double most_seconds = 20;
};

struct Tuned {
  Choices choices;
  TuneReport report;
};

// What an alternative must gain at least; where steps scatter, twice the standard error of the
// gain.
inline constexpr double kLeastGain = 0.02;

// A run of fewer batches is not worth timing: beginning alone would take longer than is allowed.
inline constexpr double kFewestBatches = 200;

// Alternatives that fail, such as for want of memory, are not kept, and their verdict says why; one
// for which no time is left has the verdict kNoTimeLeft.
// Errors: those of Begin.
Result<Tuned> SearchChoices(const Choices& first, const std::vector<Knob>& knobs,
                            ChoiceTimer& timer, const TuneLimits& limits);

}  // namespace stoker
