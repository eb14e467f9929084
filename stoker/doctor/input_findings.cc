// Why steps wait for the input pipeline.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stoker/doctor/finding_internal.h"

namespace stoker {
namespace {

// Threads that wait for a lock in so many of the samples of their states while they work.
constexpr double kLockFrom = 0.25;
// One batch in twenty takes so much of the time. Threads that make a batch each bring them in
// bursts, so this grows with their number.
constexpr double kSlowestFrom = 0.4, kSlowestOfAThread = 0.075;
constexpr int64_t kBatchesToTell = 40;
// A record of fewer bytes costs less to read than to ask for, if it has a file of its own.
constexpr int64_t kSmallRecord = 16 << 10;
// Below this share of the threads' time, CPUs do not explain what the stages do.
constexpr double kOfCpu = 0.5;
// From this share of the rate in sequence on, a disk gives what it can.
constexpr double kAtTheRoof = 0.8;

// The change that the recipe's own limits need.
bool IsAboutThreads(const RecipeChange& change) {
  return change.key == "train.feed_threads" ||
         (change.kind == RecipeChange::Kind::kInsertStage && change.value == "prefetch");
}
bool IsAboutMemory(const RecipeChange& change) { return change.key == "train.memory"; }
bool IsCache(const RecipeChange& change) {
  return change.kind == RecipeChange::Kind::kInsertStage && change.value == "cache";
}

const Trial* BestTrial(const RunProfile& profile, bool (*is_it)(const RecipeChange&)) {
  const Trial* best = nullptr;
  for (const Trial& trial : profile.trials) {
    if (trial.part != TrialPart::kInput || !is_it(trial.change)) continue;
    if (best == nullptr || RatioOf(trial) > RatioOf(*best)) best = &trial;
  }
  return best;
}

bool Proves(const Trial* trial) { return trial != nullptr && RatioOf(*trial) >= kProves; }

double BusySeconds(const InputProfile& input) {
  double busy = 0;
  for (const StageTimes& stage : input.stages) busy += Sane(stage.busy_s);
  return busy;
}

int64_t BytesOfRecord(const InputProfile& input) {
  if (input.stages.empty() || input.stages.front().elements <= 0) return 0;
  return input.stages.front().bytes / input.stages.front().elements;
}

Verdict VerdictOfSource(const InputProfile& input) {
  if (input.on_servers) return Verdict::kNetwork;
  const double busy = BusySeconds(input);
  const bool computes = busy > 0 && Sane(input.cpu_s) >= kOfCpu * busy;
  if (input.many_files && BytesOfRecord(input) < kSmallRecord && computes)
    return Verdict::kSmallRecords;
  // What a source computes is decompression and parsing.
  return computes && input.disk_share < kOfCpu ? Verdict::kDecode : Verdict::kStorage;
}

Verdict VerdictOfStage(const InputProfile& input) {
  if (input.limiting_stage.empty() || input.idle) return Verdict::kUnknown;
  switch (input.limiting_work) {
    case StageWork::kReads: return VerdictOfSource(input);
    case StageWork::kDecodes: return Verdict::kDecode;
    case StageWork::kChanges: return Verdict::kAugmentation;
    case StageWork::kArranges: break;
  }
  return Verdict::kSmallRecords;
}

// Answers of servers come in bursts of their own.
bool HasSlowElements(const InputProfile& input) {
  const double from =
      std::max(kSlowestFrom, kSlowestOfAThread * static_cast<double>(input.threads));
  return !input.on_servers && input.batches >= kBatchesToTell && Sane(input.slowest_share) >= from;
}

// The recipe's own limits come first, because a trial has shown that they are to blame; then what
// no stage's work shows; then the stage.
Verdict VerdictOf(const RunProfile& profile) {
  const InputProfile& input = *profile.input;
  const Trial* const threads = BestTrial(profile, IsAboutThreads);
  const Trial* const memory = BestTrial(profile, IsAboutMemory);
  if (Proves(memory) && (!Proves(threads) || RatioOf(*memory) > RatioOf(*threads)))
    return Verdict::kMemory;
  if (Sane(input.lock_share) >= kLockFrom) return Verdict::kLock;
  if (Proves(threads)) return Verdict::kThreads;
  if (HasSlowElements(input)) return Verdict::kSlowElement;
  return VerdictOfStage(input);
}

// The seconds of a step once the input is `ratio` times as fast, at best and at worst. At best the
// step and its input overlap wholly; at worst, on CPUs that both use, not at all.
struct StepRange {
  double best = 0, worst = 0;
};
StepRange StepWithInput(const RunProfile& profile, double ratio) {
  const TrainingProfile& training = *profile.training;
  const double step = Sane(training.step_s);
  const double computes = std::max(0.0, step - Sane(training.wait_s));
  const double alone = profile.step ? Sane(profile.step->seconds) : 0;
  const double least = alone > 0 ? std::min(alone, computes) : computes;
  const double input = step / ratio;
  const double best = std::max(least, input);
  const double together = profile.machine.accelerator ? 1.1 * best : computes + input;
  return {.best = std::min(step, best), .worst = std::min(step, std::max(best, together))};
}

Prescription WithGains(const RunProfile& profile, double ratio, Prescription made) {
  if (!profile.training) {
    made.gain_low = 1 + 0.75 * std::max(0.0, ratio - 1);
    made.gain_high = 1 + 1.25 * std::max(0.0, ratio - 1);
    return made;
  }
  const TrainingProfile& training = *profile.training;
  const StepRange range = StepWithInput(profile, ratio);
  const double total = PlannedTimesOf(training).total();
  const auto steps = static_cast<double>(training.total_steps);
  made.gain_low = GainOf(total, steps * (Sane(training.step_s) - range.worst));
  made.gain_high = GainOf(total, steps * (Sane(training.step_s) - range.best));
  return made;
}

std::string WhyOf(const Trial& trial) {
  const std::string faster =
      fmt::format("the input alone gives {:.0f} samples a second with it, {:.0f} without",
                  trial.samples_per_s, trial.before);
  if (IsCache(trial.change)) {
    return fmt::format("what precedes it is then done in the first epoch only{}; {}",
                       trial.change.move < 0 ? "" : "; the order of samples becomes another one",
                       faster);
  }
  if (trial.change.key == "train.feed_threads")
    return "Stoker then chooses how many threads run the pipeline; " + faster;
  if (IsAboutMemory(trial.change)) return "the pipeline can then read ahead; " + faster;
  if (IsAboutThreads(trial.change)) return "batches are then made while steps compute; " + faster;
  return faster;
}

Prescription PrescribedBy(const RunProfile& profile, const Trial& trial) {
  Prescription made;
  made.change = trial.change;
  made.text = trial.change.ToText(profile.facts.stages);
  made.why = WhyOf(trial);
  return WithGains(profile, RatioOf(trial), std::move(made));
}

// What helps and is no key of the recipe.
std::optional<Prescription> Advice(const RunProfile& profile, Verdict verdict) {
  std::string text;
  switch (verdict) {
    case Verdict::kNetwork:
    case Verdict::kStorage:
    case Verdict::kSmallRecords:
      text = "put the samples into few large files on a near, fast disk (`stoker pack`)";
      break;
    case Verdict::kDecode:
    case Verdict::kAugmentation:
    case Verdict::kSlowElement:
      text = fmt::format("do beforehand what `{}` does and does not draw at random (`stoker pack`)",
                         profile.input->limiting_stage);
      break;
    case Verdict::kLock:
      text = fmt::format("let the threads of `{}` share no lock", profile.input->limiting_stage);
      break;
    default: return std::nullopt;
  }
  Prescription made;
  made.text = std::move(text);
  made.why = profile.input->why;
  made = WithGains(profile, /*ratio=*/2, std::move(made));
  made.gain_high = std::max(made.gain_high, WithGains(profile, /*ratio=*/4, made).gain_high);
  return made;
}

std::string WhyWaits(const RunProfile& profile) {
  const InputProfile& input = *profile.input;
  std::vector<std::string> parts;
  if (profile.training) {
    const PlannedTimes times = PlannedTimesOf(*profile.training);
    parts.push_back(fmt::format("steps wait for data in {:.0f}% of the time",
                                100 * times.wait / std::max(times.total(), 1e-9)));
  }
  // Of a run that is only watched, nothing was measured alone.
  if (Sane(input.samples_per_s) > 0) {
    parts.push_back(
        fmt::format("the input alone gives {:.0f} samples a second", input.samples_per_s));
    if (profile.step && Sane(profile.step->seconds) > 0) {
      parts.back() += fmt::format(", the step alone takes {:.0f}",
                                  static_cast<double>(profile.step->batch) / profile.step->seconds);
    }
  }
  if (!input.why.empty()) parts.push_back(fmt::format("`{}`: {}", input.limiting_stage, input.why));
  return fmt::format("{}", fmt::join(parts, "; "));
}

// How far the machine itself is from what it can do, where that has been measured.
std::string BesideTheRoof(const RunProfile& profile, Verdict verdict) {
  const InputProfile& input = *profile.input;
  if (!profile.machine.roofs || input.stages.empty() || input.seconds <= 0) return "";
  const MachineRoofs& roofs = *profile.machine.roofs;
  if (verdict == Verdict::kStorage && Sane(roofs.read_bytes_per_s) > 0) {
    const double rate = static_cast<double>(input.stages.front().bytes) / input.seconds;
    if (rate >= kAtTheRoof * roofs.read_bytes_per_s) {
      return fmt::format(
          "; {:.0f} MB/s are read, and `stoker env` measured {:.0f} there: only a "
          "faster disk, a cache or smaller data help",
          1e-6 * rate, 1e-6 * roofs.read_bytes_per_s);
    }
    return fmt::format("; {:.3g} MB/s are read of the {:.0f} that `stoker env` measured there",
                       1e-6 * rate, 1e-6 * roofs.read_bytes_per_s);
  }
  if (verdict == Verdict::kDecode && Sane(roofs.pictures_per_s) > 0) {
    return fmt::format("; all CPUs decode {:.0f} JPEGs of 500 x 375 a second (`stoker env`)",
                       roofs.pictures_per_s);
  }
  return "";
}

// Seconds lost, of those in `total`.
std::optional<Finding> Loss(const RunProfile& profile) {
  Finding finding;
  if (profile.training) {
    const PlannedTimes times = PlannedTimesOf(*profile.training);
    finding.total = times.total();
    if (times.wait < kLeastLoss / 2 * finding.total) return std::nullopt;
    const double steps = static_cast<double>(profile.training->total_steps);
    const StepRange ideal = StepWithInput(profile, 1e9);
    finding.lost = steps * (Sane(profile.training->step_s) - ideal.best);
    return finding;
  }
  if (profile.facts.has_model) return std::nullopt;  // how much it matters was not measured
  // Without steps nothing waits; what a change of the recipe gains is lost.
  double best = 1;
  for (const Trial& trial : profile.trials)
    if (trial.part == TrialPart::kInput && !IsCache(trial.change))
      best = std::max(best, RatioOf(trial));
  if (best < kProves) return std::nullopt;
  finding.total = 1;
  finding.lost = 1 - 1 / best;
  return finding;
}

}  // namespace

std::optional<Finding> FindInInput(const RunProfile& profile) {
  if (!profile.input) {
    std::optional<Finding> finding = profile.training ? Loss(profile) : std::optional<Finding>();
    if (finding) finding->why = "the input was not measured alone";
    return finding;
  }
  std::optional<Finding> finding = Loss(profile);
  if (!finding) return std::nullopt;
  finding->verdict = VerdictOf(profile);
  if (finding->verdict != Verdict::kUnknown && finding->verdict != Verdict::kThreads &&
      finding->verdict != Verdict::kMemory) {
    finding->stage = profile.input->limiting_stage;
  }
  finding->why = WhyWaits(profile) + BesideTheRoof(profile, finding->verdict);
  for (const Trial& trial : profile.trials) {
    if (trial.part == TrialPart::kInput && RatioOf(trial) > 1)
      finding->prescriptions.push_back(PrescribedBy(profile, trial));
  }
  if (finding->prescriptions.empty()) {
    if (auto advice = Advice(profile, finding->verdict))
      finding->prescriptions.push_back(*std::move(advice));
  }
  return finding;
}

}  // namespace stoker
