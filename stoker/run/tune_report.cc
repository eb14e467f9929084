#include "stoker/run/tune_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

namespace stoker {
namespace {

std::string TimeText(const TuneReport& report) {
  if (report.seconds <= report.limit_seconds) {
    return fmt::format("tuned in {:.1f} s of at most {:.1f} s", report.seconds,
                       report.limit_seconds);
  }
  return fmt::format("tuned in {:.1f} s; {:.1f} s were meant, known only after the first steps",
                     report.seconds, report.limit_seconds);
}

}  // namespace

std::string TuneReport::ToText() const {
  const auto untried = [](const TuneTrial& trial) { return trial.verdict == kNoTimeLeft; };
  if (std::ranges::count_if(trials, std::not_fn(untried)) < 2) return {};
  std::string text = fmt::format("  {:<28} {:>9}  {:>6}  {}\n", "alternative", "ms a step", "gain",
                                 TimeText(*this));
  std::vector<std::string> without_time;
  for (const TuneTrial& trial : trials) {
    if (untried(trial)) {
      without_time.push_back(trial.change);
      continue;
    }
    const bool timed = trial.step_ms > 0;
    const bool compared = timed && trial.gain > 0;
    text += fmt::format("{} {:<28} {:>9}  {:>6}  {}\n", trial.kept ? '*' : ' ', trial.change,
                        timed ? fmt::format("{:.2f}", trial.step_ms) : "-",
                        compared ? fmt::format("{:.2f}x", trial.gain) : "-", trial.verdict);
  }
  if (!without_time.empty()) {
    text += fmt::format("  no time was left for {}\n", fmt::join(without_time, ", "));
  }
  return text;
}

Json TuneReport::ToJson() const {
  Json json = {{"reason", reason},
               {"seconds", seconds},
               {"limit_seconds", limit_seconds},
               {"planned_seconds", planned_seconds},
               {"trials", Json::array()}};
  for (const TuneTrial& trial : trials) {
    json["trials"].push_back({{"change", trial.change},
                              {"choices", trial.choices.ToJson()},
                              {"ms_a_step", trial.step_ms > 0 ? Json(trial.step_ms) : Json()},
                              {"gain", trial.gain > 0 ? Json(trial.gain) : Json()},
                              {"steps", trial.steps},
                              {"kept", trial.kept},
                              {"verdict", trial.verdict}});
  }
  return json;
}

}  // namespace stoker
