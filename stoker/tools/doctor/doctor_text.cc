// The report of the doctor as text.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "stoker/doctor/planned_times.h"
#include "stoker/tools/doctor/doctor.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

std::string TimeText(const TrainingProfile& training) {
  const PlannedTimes times = PlannedTimesOf(training);
  const double total = times.total();
  if (total <= 0) return {};
  struct Part {
    std::string_view name;
    double seconds;
  };
  std::vector<Part> parts = {{"computing", times.compute},      {"waiting for data", times.wait},
                             {"evaluations", times.evaluation}, {"checkpoints", times.checkpoint},
                             {"logging", times.logging},        {"callbacks", times.callbacks},
                             {"start-up", times.startup},       {"between epochs", times.gap}};
  std::ranges::stable_sort(parts, std::ranges::greater(), &Part::seconds);
  std::string text;
  for (const Part& part : parts) {
    if (part.seconds < 0.005 * total) continue;
    text += fmt::format("{}{} {:.0f}%", text.empty() ? "" : ", ", part.name,
                        100 * part.seconds / total);
  }
  return fmt::format("{}; the planned run takes {}", text, DurationText(total));
}

double Rate(int64_t samples, double seconds) {
  return seconds > 0 ? static_cast<double>(samples) / seconds : 0;
}

// "input 3,200, step 12,000, both 2,900 samples a second"
std::string RatesText(const RunProfile& profile) {
  std::string text;
  const auto add = [&](std::string_view name, double rate) {
    if (rate > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, WithThousands(rate));
  };
  if (profile.input) add("input alone", profile.input->samples_per_s);
  if (profile.step) add("step alone", Rate(profile.step->batch, profile.step->seconds));
  if (profile.training && profile.training->steps > 0) {
    const TrainingProfile& training = *profile.training;
    add("both", Rate(training.samples, static_cast<double>(training.steps) * training.step_s));
  }
  return text.empty() ? "" : text + " samples a second";
}

}  // namespace

std::string DoctorText(const RunProfile& profile, const Diagnosis& diagnosis) {
  std::vector<std::vector<std::string>> rows = {
      {"verdict", fmt::format("{}: {}", NameOf(diagnosis.verdict), diagnosis.Sentence())}};
  const auto add = [&](std::string name, std::string text) {
    if (!text.empty()) rows.push_back({std::move(name), std::move(text)});
  };
  add("because", diagnosis.why);
  if (profile.training) add("time", TimeText(*profile.training));
  add("rates", RatesText(profile));
  int number = 0;
  for (const Prescription& each : diagnosis.prescriptions) {
    ++number;
    add(number == 1 ? "try" : "", fmt::format("{}. {}  ({:.2g} to {:.2g} times as fast)", number,
                                              each.text, each.gain_low, each.gain_high));
    add("", "   " + each.why);
    if (!each.caution.empty()) add("", "   may change the accuracy: " + each.caution);
  }
  if (profile.interrupted) add("note", "a signal ended the measurement early");
  if (!profile.error.empty()) add("error", profile.error);
  return TableText(rows);
}

}  // namespace stoker
