// What a run does beside its steps, and how much of its time that takes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stoker/doctor/finding_internal.h"

namespace stoker {
namespace {

// The share of the time that something which recurs may take after a prescription.
constexpr double kTolerated = 0.04;
// What precedes the first step is judged more mildly: trials and short runs are begun often.
constexpr double kLeastStartup = 0.2;
constexpr int64_t kUsualLogEvery = 50;
// What takes this share of the time breaks steps off.
constexpr double kBreaksOff = 0.3;

// The planned run, and the seconds that its steps compute longer than alone. Steps that are broken
// off all the time, by writes and evaluations, find cold caches and threads that sleep.
struct Run {
  double total = 0, slowed = 0;

  // What those get back if `part` of the seconds goes; only where that breaks off many.
  double Regained(double part) const { return part > kBreaksOff * total ? 0.9 * slowed : 0; }
};

Run RunOf(const RunProfile& profile, const PlannedTimes& times) {
  const double alone = profile.step ? Sane(profile.step->seconds) : 0;
  const double least = alone * static_cast<double>(profile.training->total_steps);
  return {.total = times.total(), .slowed = alone > 0 ? std::max(0.0, times.compute - least) : 0};
}

// How many times as rare something must be that takes `part` seconds of the run.
int64_t Rarer(double part, const Run& run) {
  const double others = std::max(run.total - part - run.Regained(part), 1e-9);
  const double factor = part * (1 - kTolerated) / (kTolerated * others);
  return static_cast<int64_t>(std::clamp(std::ceil(factor), 2.0, 100000.0));
}

// The largest interval that a recipe can name, where the product is beyond it.
int64_t Times(int64_t every, int64_t factor) {
  int64_t product = 0;
  return __builtin_mul_overflow(every, factor, &product) ? std::numeric_limits<int64_t>::max()
                                                         : product;
}

Prescription RarerBy(double part, const Run& run, int64_t factor, std::string key, int64_t value,
                     std::string why) {
  const double saved = part * (1 - 1 / static_cast<double>(factor)) + run.Regained(part);
  const std::string number = std::to_string(value);
  std::string text = fmt::format("{}: {}", key, number);
  return Predicted(RecipeChange::Set(std::move(key), number), std::move(text),
                   GainOf(run.total, saved), std::move(why));
}

Finding InEvaluations(const RunProfile& profile, const PlannedTimes& times, const Run& run) {
  const RecipeFacts& facts = profile.facts;
  const TrainingProfile& training = *profile.training;
  Finding finding{
      .verdict = Verdict::kEvaluation,
      .lost = times.evaluation + run.Regained(times.evaluation),
      .total = run.total,
      .why = fmt::format("an evaluation takes {:.2g} s, as long as {:.0f} steps, and the "
                         "run has {:.0f} of them",
                         training.evaluation_s,
                         training.evaluation_s / std::max(training.step_s, 1e-9),
                         training.evaluations)};
  if (training.evaluations <= 1) return finding;
  const int64_t factor = Rarer(times.evaluation, run);
  const std::string why = "evaluations are then rarer; the one at the end stays";
  finding.prescriptions.push_back(
      facts.eval_every_steps ? RarerBy(times.evaluation, run, factor, "train.eval_every_steps",
                                       Times(*facts.eval_every_steps, factor), why)
                             : RarerBy(times.evaluation, run, factor, "train.eval_every",
                                       Times(facts.eval_every, factor), why));
  if (facts.follows_evaluations) {
    finding.prescriptions.back().caution =
        "the recipe decides by evaluations (early_stopping, checkpoint.best or the schedule), so "
        "with fewer of them it may keep or end with other weights";
  }
  return finding;
}

Finding InCheckpoints(const RunProfile& profile, const PlannedTimes& times, const Run& run) {
  const RecipeFacts& facts = profile.facts;
  const TrainingProfile& training = *profile.training;
  Finding finding{.verdict = Verdict::kCheckpoint,
                  .lost = times.checkpoint + run.Regained(times.checkpoint),
                  .total = run.total,
                  .why = fmt::format("training is held for {:.2g} s by each of {:.0f} checkpoints",
                                     training.checkpoint_s, training.checkpoints)};
  if (facts.checkpoint_every_steps) {
    const int64_t factor = Rarer(times.checkpoint, run);
    finding.prescriptions.push_back(
        RarerBy(times.checkpoint, run, factor, "train.checkpoint.every_steps",
                Times(*facts.checkpoint_every_steps, factor),
                "checkpoints are then rarer; there is one after each epoch too"));
  }
  if (!facts.checkpoint_async) {
    Prescription async{.change = RecipeChange::Set("train.checkpoint.async", "true"),
                       .text = "train.checkpoint.async: true",
                       .gain_low = GainOf(run.total, 0.2 * times.checkpoint),
                       .gain_high = GainOf(run.total, 0.8 * times.checkpoint),
                       .why = "training then goes on while a checkpoint is written"};
    finding.prescriptions.push_back(std::move(async));
  }
  if (finding.prescriptions.empty()) {
    finding.why +=
        "; no key makes them rarer than epochs are, and a faster disk for the run "
        "makes each of them shorter";
  }
  return finding;
}

void PrescribeRarerCallbacks(const RecipeFacts& facts, double callbacks, const Run& run,
                             Finding& finding) {
  const int64_t factor = Rarer(callbacks, run);
  if (facts.histograms_every) {
    finding.prescriptions.push_back(RarerBy(callbacks, run, factor, "train.tensorboard.histograms",
                                            Times(*facts.histograms_every, factor),
                                            "histograms look at all weights and gradients"));
  }
  if (facts.tensors_every) {
    finding.prescriptions.push_back(RarerBy(
        callbacks, run, factor,
        fmt::format("train.callbacks.{}.log_tensors.every", facts.tensors_place),
        Times(*facts.tensors_every, factor), "log_tensors looks at all weights and gradients"));
  }
}

Finding InLogging(const RunProfile& profile, const PlannedTimes& times, const Run& run) {
  const RecipeFacts& facts = profile.facts;
  const double part = times.logging + times.callbacks;
  const bool reads_back = profile.machine.accelerator && times.logging > times.callbacks;
  Finding finding{
      .verdict = reads_back ? Verdict::kSynchronization : Verdict::kLogging,
      .lost = part + run.Regained(part),
      .total = run.total,
      .why = fmt::format("of a step of {:.3g} ms, lines of metrics take {:.3g} ms more "
                         "and callbacks {:.3g} ms",
                         1e3 * profile.training->step_s, 1e3 * profile.training->logging_s,
                         1e3 * profile.training->callbacks_s)};
  if (facts.log_every && *facts.log_every < kUsualLogEvery) {
    const int64_t factor = (kUsualLogEvery + *facts.log_every - 1) / *facts.log_every;
    finding.prescriptions.push_back(RarerBy(times.logging, run, factor, "train.log_every",
                                            kUsualLogEvery, "lines of metrics are then rarer"));
  }
  PrescribeRarerCallbacks(facts, times.callbacks, run, finding);
  return finding;
}

Finding InStartup(const RunProfile& profile, const PlannedTimes& times, double total) {
  Finding finding{
      .verdict = Verdict::kStartup,
      .lost = times.startup,
      .total = total,
      .why = fmt::format("{:.2g} s pass before the first step has ended, the planned run "
                         "takes {:.2g} s",
                         times.startup, total)};
  if (times.startup < kLeastStartup * total) finding.lost = 0;
  const double first = profile.input ? Sane(profile.input->first_batch_s) : 0;
  if (first < 0.3 * times.startup) return finding;
  finding.why += fmt::format(", and {:.2g} s of that go into the first batch", first);
  finding.prescriptions.push_back(Predicted(
      std::nullopt,
      "store the data so that their first batch is there at once (`stoker pack`, or files "
      "that are not compressed)",
      GainOf(total, 0.8 * std::min(first, times.startup)),
      "the pipeline reads a lot before it gives its first batch"));
  return finding;
}

}  // namespace

std::vector<Finding> FindBesideSteps(const RunProfile& profile) {
  if (!profile.training) return {};
  const PlannedTimes times = PlannedTimesOf(*profile.training);
  const double total = times.total();
  if (total <= 0) return {};
  const Run run = RunOf(profile, times);
  std::vector<Finding> findings = {
      InEvaluations(profile, times, run), InCheckpoints(profile, times, run),
      InLogging(profile, times, run), InStartup(profile, times, total)};
  findings.push_back({.verdict = Verdict::kUnknown,
                      .lost = times.gap,
                      .total = total,
                      .why = fmt::format("{:.2g} s pass between two epochs",
                                         Sane(profile.training->epoch_gap_s))});
  return findings;
}

}  // namespace stoker
