// What the computation of steps loses.
#include <fmt/format.h>

#include <algorithm>

#include "stoker/doctor/finding_internal.h"

namespace stoker {
namespace {

// A copy of less than this share of a step overlaps with it.
constexpr double kCopyFrom = 0.5;

Verdict VerdictOf(const RecipeChange& change) {
  if (change.key == "train.threads") return Verdict::kThreads;
  return change.key == "train.detect_anomaly" ? Verdict::kCompute : Verdict::kSmallRecords;
}

std::string WhyOf(const Trial& trial) {
  const std::string figures =
      fmt::format("the step alone takes {:.0f} samples a second with it, {:.0f} without",
                  trial.samples_per_s, trial.before);
  switch (VerdictOf(trial.change)) {
    case Verdict::kThreads:
      return "the step then computes on as many threads as there are CPUs; " + figures;
    case Verdict::kCompute: return "steps then do not follow every operator; " + figures;
    default: break;
  }
  return "a step has work that does not depend on the size of its batch; " + figures;
}

// The seconds that the whole run saves if the computation is `ratio` times as fast.
double Saved(const RunProfile& profile, double ratio) {
  return PlannedTimesOf(*profile.training).compute * (1 - 1 / ratio);
}

Prescription PrescribedBy(const RunProfile& profile, const Trial& trial, double total) {
  Prescription made = Predicted(trial.change, trial.change.ToText(),
                                GainOf(total, Saved(profile, RatioOf(trial))), WhyOf(trial));
  if (VerdictOf(trial.change) == Verdict::kSmallRecords) {
    made.caution =
        "larger batches make fewer steps of an epoch, so the model learns otherwise: try the "
        "learning rate anew (`stoker lr-find`) and compare the accuracy";
  }
  return made;
}

std::optional<Finding> FindInCopies(const RunProfile& profile) {
  if (!profile.machine.accelerator || !profile.step) return std::nullopt;
  const double copy = Sane(profile.step->copy_s), step = Sane(profile.step->seconds);
  if (copy < kCopyFrom * step || step == 0) return std::nullopt;
  const double total = PlannedTimesOf(*profile.training).total();
  const auto steps = static_cast<double>(profile.training->total_steps);
  Finding finding{.verdict = Verdict::kCopy,
                  .lost = std::min(Sane(profile.training->wait_s), copy) * steps,
                  .total = total,
                  .why = fmt::format("copying a batch takes {:.3g} ms, its step {:.3g} ms",
                                     copy * 1e3, step * 1e3)};
  const double gain = GainOf(total, finding.lost / 2);
  finding.prescriptions.push_back(Predicted(RecipeChange::Set("train.normalize_on", "device"),
                                            "train.normalize_on: device", gain,
                                            "bytes are a quarter of what floats are to copy"));
  return finding;
}

}  // namespace

std::optional<Finding> FindInStep(const RunProfile& profile) {
  if (!profile.training) return std::nullopt;
  if (std::optional<Finding> copies = FindInCopies(profile);
      copies && copies->share() >= kLeastLoss) {
    return copies;
  }
  const double total = PlannedTimesOf(*profile.training).total();
  Finding finding{.total = total};
  const Trial* best = nullptr;
  for (const Trial& trial : profile.trials) {
    if (trial.part != TrialPart::kStep || RatioOf(trial) < kProves) continue;
    finding.prescriptions.push_back(PrescribedBy(profile, trial, total));
    if (best == nullptr || RatioOf(trial) > RatioOf(*best)) best = &trial;
  }
  if (best == nullptr) return std::nullopt;
  finding.verdict = VerdictOf(best->change);
  finding.lost = Saved(profile, RatioOf(*best));
  finding.why = WhyOf(*best);
  return finding;
}

}  // namespace stoker
