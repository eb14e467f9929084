#include "stoker/train/tune/tune_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stoker/base/statistics.h"

namespace stoker {
namespace {

// The standard error of the median of these times, as a share of it: 1.2533 standard deviations by
// the root of their number (of a normal distribution), the deviation by the median distance from
// the median.
double RelativeError(const StepTimes& times) {
  const double median = Median(times);
  StepTimes distances;
  for (const double time : times) distances.push_back(std::abs(time - median));
  const double deviation = 1.4826 * Median(distances);
  return 1.2533 * deviation / std::sqrt(static_cast<double>(times.size())) / median;
}

class Search {
 public:
  Search(const Choices& first, ChoiceTimer& timer, const TuneLimits& limits)
      : timer_(timer), limits_(limits), tuned_{.choices = first, .report = {}} {}

  Status Begin() {
    STOKER_ASSIGN_OR_RETURN(const StepTimes times,
                            timer_.Begin(tuned_.choices, limits_.most_seconds));
    SetBest(Median(times));
    tuned_.report.trials.push_back({.change = "begin",
                                    .choices = tuned_.choices,
                                    .step_ms = best_ms_,
                                    .steps = std::ssize(times),
                                    .kept = true,
                                    .verdict = tuned_.choices.ToString()});
    return OkStatus();
  }

  // The alternatives of a knob are changes of what is best when its turn comes.
  void Try(const Knob& knob, int64_t knobs_left) {
    const std::vector<Alternative> alternatives = knob.alternatives(tuned_.choices);
    int64_t left = std::ssize(alternatives) + knobs_left;
    for (const Alternative& alternative : alternatives) TryOne(alternative, knob.kind, left--);
  }

  Tuned Finish() {
    tuned_.report.reason =
        compared_ ? "the fastest of real training steps" : WhyNothingWasCompared();
    tuned_.report.seconds = timer_.ElapsedSeconds();
    return std::move(tuned_);
  }

 private:
  std::string WhyNothingWasCompared() const {
    if (tried_ && !lacked_time_) {
      return "nothing was compared: no alternative is possible";
    }
    const double limit = tuned_.report.limit_seconds;
    if (limit >= limits_.most_seconds) {
      return fmt::format("nothing was compared: that takes more than {:.3g} s", limit);
    }
    return fmt::format(
        "nothing was compared: the run is too short, tuning may take {:.0f} % of it, {:.2g} s",
        100 * limits_.share, limit);
  }

  void SetBest(double step_ms) {
    best_ms_ = step_ms;
    TuneReport& report = tuned_.report;
    report.planned_seconds = step_ms * 1e-3 * limits_.batches;
    report.limit_seconds = std::min(limits_.share * report.planned_seconds, limits_.most_seconds);
  }

  void TryOne(const Alternative& alternative, StepKind kind, int64_t left) {
    TuneTrial trial{.change = alternative.change, .choices = alternative.choices};
    const double seconds = tuned_.report.limit_seconds - timer_.ElapsedSeconds();
    const double needed = timer_.LeastSeconds(kind, best_ms_);
    if (!alternative.obstacle.empty()) {
      trial.verdict = fmt::format("not possible: {}", alternative.obstacle);
    } else if (needed > seconds) {
      SetLackedTime(trial);
    } else {
      tried_ = true;
      const double share = std::max(needed, seconds / static_cast<double>(left));
      const auto compared =
          timer_.Compare(tuned_.choices, alternative.choices, kind, share, seconds);
      if (compared.status().code() == StatusCode::kCancelled) {
        SetLackedTime(trial);
      } else {
        Judge(compared, trial);
      }
    }
    if (trial.kept) {
      tuned_.choices = trial.choices;
      best_ = tuned_.report.trials.size();
    }
    tuned_.report.trials.push_back(std::move(trial));
  }

  void SetLackedTime(TuneTrial& trial) {
    lacked_time_ = true;
    trial.verdict = kNoTimeLeft;
  }

  void Judge(const Result<ChoiceTimer::Compared>& compared, TuneTrial& trial) {
    if (!compared.ok()) {
      trial.verdict = fmt::format("not possible: {}", compared.status().message());
      return;
    }
    compared_ = true;
    // Timed in turns with the alternative, and longer than before.
    SetBest(Median(compared->best));
    tuned_.report.trials[best_].step_ms = best_ms_;
    trial.step_ms = Median(compared->other);
    trial.gain = best_ms_ / trial.step_ms;
    trial.steps = std::ssize(compared->other);
    const double noise =
        2 * std::hypot(RelativeError(compared->best), RelativeError(compared->other));
    trial.kept = trial.gain >= 1 + std::max(kLeastGain, noise);
    if (trial.kept) {
      trial.verdict = "kept";
      SetBest(trial.step_ms);
    } else if (trial.gain < 1) {
      trial.verdict = "no faster";
    } else if (noise > kLeastGain) {
      trial.verdict = fmt::format("less than the noise of {:.0f} %", 100 * noise);
    } else {
      trial.verdict = fmt::format("less than {:.0f} %", 100 * kLeastGain);
    }
  }

  ChoiceTimer& timer_;
  const TuneLimits limits_;
  Tuned tuned_;
  size_t best_ = 0;  // of the trials
  double best_ms_ = 0;
  bool tried_ = false, compared_ = false;  // any alternative; with success
  bool lacked_time_ = false;               // for any
};

}  // namespace

Result<Tuned> SearchChoices(const Choices& first, const std::vector<Knob>& knobs,
                            ChoiceTimer& timer, const TuneLimits& limits) {
  const bool open = std::ranges::any_of(knobs, [&](const Knob& knob) {
    return std::ranges::any_of(knob.alternatives(first), [](const Alternative& alternative) {
      return alternative.obstacle.empty();
    });
  });
  if (!open) {
    return Tuned{first, {.reason = "fixed by the recipe, or nothing to choose from"}};
  }
  if (limits.batches < kFewestBatches) {
    return Tuned{first,
                 {.reason = fmt::format("a run of {:.0f} batches is too short to time alternatives",
                                        limits.batches)}};
  }
  Search search(first, timer, limits);
  STOKER_RETURN_IF_ERROR(search.Begin());
  for (size_t i = 0; i < knobs.size(); ++i) {
    search.Try(knobs[i], std::ssize(knobs) - static_cast<int64_t>(i) - 1);
  }
  return search.Finish();
}

}  // namespace stoker
