#include "stoker/tools/trainer/trial_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

std::vector<BatchTrial> Sorted(std::span<const BatchTrial> trials) {
  std::vector<BatchTrial> sorted(trials.begin(), trials.end());
  std::ranges::sort(sorted, {}, &BatchTrial::batch);
  return sorted;
}

}  // namespace

std::string TrialTable(std::span<const BatchTrial> trials, std::string_view noun) {
  std::vector<std::vector<std::string>> rows = {{"batch", fmt::format("{}s/s", noun), "ms/step",
                                                 fmt::format("ms/{}", noun), "memory",
                                                 fmt::format("memory/{}", noun)}};
  for (const BatchTrial& trial : Sorted(trials)) {
    const auto batch = static_cast<double>(trial.batch);
    if (!trial.fits) {
      rows.push_back({WithThousands(batch), "-", "-", "-", "-", "-", trial.reason});
      continue;
    }
    rows.push_back({WithThousands(batch), FigureText(trial.images_per_s), FigureText(trial.step_ms),
                    FigureText(trial.step_ms / batch), ByteText(trial.peak_bytes),
                    ByteText(trial.peak_bytes / static_cast<uint64_t>(trial.batch))});
  }
  return TableText(rows);
}

Chart TrialChart(std::span<const BatchTrial> trials, const std::string& title,
                 std::string_view noun) {
  ChartSeries speed, memory;
  for (const BatchTrial& trial : Sorted(trials)) {
    if (!trial.fits) continue;
    for (ChartSeries* series : {&speed, &memory}) {
      series->x.push_back(static_cast<double>(trial.batch));
      series->marks = true;
    }
    speed.y.push_back(trial.images_per_s);
    memory.y.push_back(static_cast<double>(trial.peak_bytes) * 1e-6);
  }
  return {.title = title,
          .x_label = "samples in a batch",
          .panels = {{.label = fmt::format("{}s a second", noun), .series = {std::move(speed)}},
                     {.label = "memory (MB)", .series = {std::move(memory)}, .log = true}},
          .log_x = true};
}

Json TrialJson(std::span<const BatchTrial> trials) {
  Json json = Json::array();
  for (const BatchTrial& trial : Sorted(trials)) {
    Json entry = {{"batch", trial.batch}, {"fits", trial.fits}};
    if (trial.fits) {
      entry["images_per_s"] = trial.images_per_s;
      entry["step_ms"] = trial.step_ms;
      entry["memory_bytes"] = trial.peak_bytes;
    } else {
      entry["reason"] = trial.reason;
    }
    json.push_back(std::move(entry));
  }
  return json;
}

}  // namespace stoker
