// The search of the tuner: which alternatives are timed, in which order, for how long, and which
// are kept. An interface times them. Needs no torch.
//
// It is greedy: starting from the initial choices, it changes one thing at a time, times it in
// turns with the best so far, and keeps it if it is faster by more than the noise. It does not find
// changes that help only together, because the number of combinations is too large.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/run/choices.h"
#include "stoker/run/tune_report.h"

namespace stoker {

// The step to time: with one batch that stays on the device, or with the batches of the pipeline.
enum class StepKind { kComputing, kWithData };

// One change of the best so far.
struct Alternative {
  std::string change;  // "precision: bf16"
  Choices choices;     // the best so far, with the change
  // Why it is impossible here: then it is reported, but not timed.
  std::string obstacle = {};
};

// One open choice.
struct Knob {
  StepKind kind = StepKind::kComputing;
  std::function<std::vector<Alternative>(const Choices& best)> alternatives;
};

// Milliseconds of single steps.
using StepTimes = std::vector<double>;

// Times steps. One thread at a time.
class ChoiceTimer {
 public:
  virtual ~ChoiceTimer() = default;

  // Times a few steps with the initial choices, to estimate the duration of the run; only one step
  // if that takes so long that no comparison fits into `most_seconds`.
  virtual Result<StepTimes> Begin(const Choices& first, double most_seconds) = 0;

  // Times both in turns for about `seconds`, or less if more would not increase the certainty.
  // Takes at least a few steps of each, unless `most_seconds` pass first, as on a busy machine. An
  // error is one of `other`, because `best` has been timed before. kCancelled: `most_seconds`
  // passed before both had enough steps.
  struct Compared {
    StepTimes best, other;
  };
  virtual Result<Compared> Compare(const Choices& best, const Choices& other, StepKind kind,
                                   double seconds, double most_seconds) = 0;

  // Returns the minimum duration of Compare if a step of the best takes `step_ms`.
  virtual double LeastSeconds(StepKind kind, double step_ms) const = 0;

  // Returns the seconds since Begin, or a little later.
  virtual double ElapsedSeconds() const = 0;
};

// Tuning takes at most the smaller of these, plus one step or the making of a model.
struct TuneLimits {
  double batches = 0;   // of the whole run
  double share = 0.03;  // of their duration
  double most_seconds = 20;
};

struct Tuned {
  Choices choices;
  TuneReport report;
};

// The minimum gain of an alternative; for noisy steps it is twice the standard error of the gain.
inline constexpr double kLeastGain = 0.02;

// A run of fewer batches is not timed, because the start alone would exceed the limit.
inline constexpr double kFewestBatches = 200;

// Alternatives that fail, for example for lack of memory, are not kept, and their verdict says why;
// one for which no time is left has the verdict kNoTimeLeft. Errors: those of Begin.
Result<Tuned> SearchChoices(const Choices& first, const std::vector<Knob>& knobs,
                            ChoiceTimer& timer, const TuneLimits& limits);

}  // namespace stoker
