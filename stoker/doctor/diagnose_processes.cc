#include "stoker/doctor/diagnose_processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "stoker/doctor/process_finding_internal.h"

namespace stoker {

std::string At(const Blame& blame) {
  if (blame.place.empty()) return {};
  return blame.text.empty() ? fmt::format(" ({})", blame.place)
                            : fmt::format(" ({}: `{}`)", blame.place, blame.text);
}

void Prescribe(Finding& finding, std::string text, double part, std::string why,
               std::string caution) {
  Prescription made = Predicted(std::nullopt, std::move(text),
                                GainOf(finding.total, part * finding.lost), std::move(why));
  made.caution = std::move(caution);
  finding.prescriptions.push_back(std::move(made));
}

double ShareOfSteps(const ProcessProfile& profile) {
  return profile.ended && profile.python ? 1 - profile.python->startup_share : 1;
}

namespace {

// What other programs take from this one looks like a loss of its own.
std::string NoteOfOthers(const ProcessProfile& profile) {
  const double others = Sane(profile.machine.other_runnable);
  if (others < 0.5 * static_cast<double>(profile.cpus)) return {};
  return fmt::format("other programs wanted {:.1f} of the {} CPUs meanwhile, so figures are rough",
                     others, profile.cpus);
}

std::string WithNoteOfOthers(std::string why, const ProcessProfile& profile) {
  const std::string note = NoteOfOthers(profile);
  if (!why.empty() && !note.empty()) why += "; ";
  return why + note;
}

// What a program does until it fails says nothing about what it would have done.
bool Failed(const ProcessProfile& profile) {
  return profile.ended && profile.exit_code && *profile.exit_code != 0;
}

// Whether a Python program mostly loaded modules, and no step of it was seen: nothing is known of
// what follows.
bool OnlyLoaded(const ProcessProfile& profile) {
  constexpr double kMostly = 0.5;
  return profile.python && !profile.python->trains &&
         profile.python->of(PythonPart::kImport).share >= kMostly;
}

// A Python program without stacks, unless its GPU is seen to be busy.
bool HidesWhatItDoes(const ProcessProfile& profile) {
  return profile.framework != Framework::kUnknown && !profile.python &&
         !(profile.cuda && profile.cuda->busy >= 1 - kLeastLoss);
}

// Whether what is lost is time in which the GPU has nothing to do. Evaluations use it too, what
// precedes the first step is not among the moments in which kernels are counted, and windows may
// miss what is done rarely.
bool LosesIdleTime(Verdict verdict) {
  return verdict != Verdict::kStartup && verdict != Verdict::kEvaluation &&
         verdict != Verdict::kCheckpoint && verdict != Verdict::kLogging;
}

std::vector<Finding> FindAll(const ProcessProfile& profile) {
  std::vector<Finding> findings;
  for (const auto find : {FindInMemory, FindInQuota, FindInThreads, FindInWaits}) {
    if (auto finding = find(profile)) findings.push_back(*std::move(finding));
  }
  std::ranges::move(FindInStacks(profile), std::back_inserter(findings));
  const double most = MostLostBesideAccelerator(profile);
  for (Finding& each : findings) {
    if (LosesIdleTime(each.verdict)) each.lost = std::min(each.lost, most * each.total);
  }
  std::ranges::move(FindOnAccelerator(profile), std::back_inserter(findings));
  std::erase_if(findings, [](const Finding& each) { return !(each.share() >= kLeastLoss); });
  if (findings.empty()) {
    if (auto idle = FindIdle(profile)) findings.push_back(*std::move(idle));
  }
  // Memory that is short makes everything else slow, so it comes first.
  std::ranges::stable_sort(findings, std::ranges::greater(), [](const Finding& each) {
    return each.share() + (each.verdict == Verdict::kMemory ? 1 : 0);
  });
  return findings;
}

}  // namespace

Diagnosis DiagnoseProcesses(const ProcessProfile& profile) {
  Diagnosis diagnosis;
  diagnosis.host = profile.host;
  diagnosis.error = profile.error;
  diagnosis.interrupted = profile.interrupted;
  if (profile.main() == nullptr) {
    diagnosis.verdict = Verdict::kUnknown;
    diagnosis.why = "nothing could be measured";
    return diagnosis;
  }
  const std::vector<Finding> findings = FindAll(profile);
  if (findings.empty()) {
    if (Failed(profile)) {
      diagnosis.verdict = Verdict::kUnknown;
      diagnosis.why = fmt::format("the program failed after {:.2g} s (exit code {})",
                                  Sane(profile.seconds), *profile.exit_code);
    } else if (OnlyLoaded(profile)) {
      diagnosis.verdict = Verdict::kUnknown;
      diagnosis.why = fmt::format(
          "the program loaded modules in {} of the time, and no step was seen; watch it longer "
          "(--seconds)",
          Percent(profile.python->of(PythonPart::kImport).share));
    } else if (HidesWhatItDoes(profile)) {
      diagnosis.verdict = Verdict::kUnknown;
      diagnosis.why =
          "its processes wait for nothing, but start-up, evaluations, checkpoints, logging and an "
          "input without workers show only in Python's stacks: pip install py-spy";
    }
    diagnosis.why = WithNoteOfOthers(std::move(diagnosis.why), profile);
    return diagnosis;
  }
  const Finding& worst = findings.front();
  diagnosis.verdict = worst.verdict;
  diagnosis.stage = worst.stage;
  diagnosis.lost_share = std::min(1.0, worst.share());
  diagnosis.roof = GainOf(worst.total, worst.lost);
  diagnosis.snippet = SnippetFor(profile, worst.verdict);
  diagnosis.why = WithNoteOfOthers(worst.why, profile);
  for (const Finding& each : findings) {
    for (const Prescription& prescription : each.prescriptions) {
      const auto same = [&](const Prescription& other) { return other.text == prescription.text; };
      if (prescription.gain() < kLeastPrescribed) continue;
      if (std::ranges::none_of(diagnosis.prescriptions, same))
        diagnosis.prescriptions.push_back(prescription);
    }
  }
  std::ranges::stable_sort(
      diagnosis.prescriptions,
      [](const Prescription& a, const Prescription& b) { return a.gain() > b.gain(); });
  return diagnosis;
}

}  // namespace stoker
