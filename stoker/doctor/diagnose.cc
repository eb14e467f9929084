#include "stoker/doctor/diagnose.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/doctor/finding_internal.h"

namespace stoker {
namespace {

constexpr double kUncertain = 0.25;

// A pipeline that is measured while other programs take its CPUs looks slower than it is.
std::string NoteOfOthers(const MachineProfile& machine) {
  const double others = Sane(machine.other_runnable);
  if (machine.cpus < 1 || others < 0.5 * static_cast<double>(machine.cpus)) return {};
  return fmt::format(
      "; other programs wanted {:.1f} of the {} CPUs meanwhile, so figures are rough", others,
      machine.cpus);
}

void KeepWorthwhile(std::vector<Prescription>& prescriptions) {
  std::erase_if(prescriptions, [](const Prescription& each) {
    return !(each.gain() >= kLeastPrescribed);  // NaN too
  });
  std::ranges::stable_sort(prescriptions, [](const Prescription& a, const Prescription& b) {
    return a.gain() > b.gain();
  });
}

}  // namespace

double RatioOf(const Trial& trial) {
  const double before = Sane(trial.before), after = Sane(trial.samples_per_s);
  return before > 0 && after > 0 ? after / before : 1;
}

Prescription Predicted(std::optional<RecipeChange> change, std::string text, double gain,
                       std::string why) {
  const double excess = std::max(0.0, gain - 1);
  return {.change = std::move(change),
          .text = std::move(text),
          .gain_low = 1 + excess * (1 - kUncertain),
          .gain_high = 1 + excess * (1 + kUncertain),
          .why = std::move(why)};
}

Diagnosis Diagnose(const RunProfile& profile) {
  std::vector<Finding> findings = FindBesideSteps(profile);
  if (auto input = FindInInput(profile)) findings.push_back(*std::move(input));
  if (auto step = FindInStep(profile)) findings.push_back(*std::move(step));
  std::erase_if(findings, [](const Finding& each) { return !(each.share() >= kLeastLoss); });
  std::ranges::stable_sort(
      findings, [](const Finding& a, const Finding& b) { return a.share() > b.share(); });
  Diagnosis diagnosis;
  diagnosis.host = profile.machine.host;
  diagnosis.rank = profile.machine.rank;
  diagnosis.error = profile.error;
  diagnosis.interrupted = profile.interrupted;
  if (findings.empty()) {
    if (!profile.training && !profile.input) {
      diagnosis.verdict = Verdict::kUnknown;
      diagnosis.why = "nothing could be measured";
    }
    return diagnosis;
  }
  const Finding& worst = findings.front();
  diagnosis.verdict = worst.verdict;
  diagnosis.stage = worst.stage;
  diagnosis.lost_share = std::min(1.0, worst.share());
  diagnosis.roof = GainOf(worst.total, worst.lost);
  diagnosis.why = worst.why + NoteOfOthers(profile.machine);
  for (Finding& each : findings) {
    std::ranges::move(each.prescriptions, std::back_inserter(diagnosis.prescriptions));
  }
  KeepWorthwhile(diagnosis.prescriptions);
  return diagnosis;
}

}  // namespace stoker
