#include "stoker/tools/inspect/run_state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <vector>

#include "stoker/data/runtime/starvation.h"
#include "stoker/io/kept_file.h"
#include "stoker/run/published_progress.h"
#include "stoker/run/run_directory.h"
#include "stoker/tools/chart/run_metrics.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

constexpr size_t kLosses = 5;

double NumberOf(const Json& json, const char* key) {
  const Json value = json.value(key, Json());
  return value.is_number() ? value.get<double>() : 0;
}

// Null if there is none, or none that can be read: a machine that lost power may leave it empty.
Json ReadProgress(const RunPaths& paths) {
  const Result<std::string> text = ReadKeptTextFile(ProgressPath(paths.root));
  Json json = text.ok() ? Json::parse(*text, nullptr, /*allow_exceptions=*/false) : Json();
  if (!json.is_object() || !json.value("step", Json()).is_number()) return nullptr;
  std::error_code error;
  const auto written = std::filesystem::last_write_time(ProgressPath(paths.root), error);
  const std::chrono::duration<double> age = std::filesystem::file_time_type::clock::now() - written;
  json["age_seconds"] = error ? 0 : std::max(0.0, age.count());
  return json;
}

Json LastLosses(const RunPaths& paths) {
  Json losses = Json::array();
  const Result<RunMetrics> metrics = ReadRunMetrics(paths.metrics());
  if (!metrics.ok()) return losses;
  for (const MetricColumn& column : metrics->columns) {
    if (column.kind != "train" || column.name != "loss") continue;
    for (size_t i = column.step.size() - std::min(kLosses, column.step.size());
         i < column.step.size(); ++i) {
      losses.push_back({{"step", column.step[i]}, {"loss", column.value[i]}});
    }
  }
  return losses;
}

std::string LossText(const Json& losses) {
  std::vector<std::string> parts;
  for (const Json& each : losses) {
    const std::string loss =
        each["loss"].is_number() ? fmt::format("{:.4f}", each["loss"].get<double>()) : "nan";
    parts.push_back(fmt::format("{} (step {})", loss, WithThousands(each["step"].get<double>())));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string StepText(const Json& progress) {
  return fmt::format("step {} of {}", WithThousands(NumberOf(progress, "step")),
                     WithThousands(NumberOf(progress, "total_steps")));
}

std::string TableOf(const Json& progress, const Json& losses) {
  std::vector<std::vector<std::string>> rows;
  if (progress.contains("samples_per_s")) {
    rows = {{"rate", fmt::format("{} {}s/s", WithThousands(NumberOf(progress, "samples_per_s")),
                                 NounIn(progress))},
            {"time left", DurationText(NumberOf(progress, "seconds_left")) + " of training"}};
  }
  if (!losses.empty()) rows.push_back({"last losses", LossText(losses)});
  if (progress.is_object())
    rows.push_back({"last heard of", DurationText(NumberOf(progress, "age_seconds")) + " ago"});
  std::string text = TableText(rows, 2);
  const Json starved = progress.is_object() ? progress.value("starved", Json()) : Json();
  if (const auto found = Starvation::FromJson(starved))
    text += fmt::format("  {}\n  try: {}\n", found->Sentence(), found->advice);
  return text;
}

// Nothing is published within a step, and the first one waits for the first batch.
std::string_view FirstStepText(const Json& progress) {
  const bool starts = progress.value("activity", Json()) == Json(NameOf(RunActivity::kStarting));
  return starts ? "; its first step, or the wait for its data, goes on" : "";
}

std::string StateName(bool finished, bool held, const Json& progress) {
  if (held) return progress.is_null() ? "starting" : "training";
  return finished ? "finished" : "stopped";
}

}  // namespace

// Versions before this one did not say.
std::string NounIn(const Json& json) {
  const Json noun = json.value("samples_are", Json());
  return noun.is_string() ? noun.get<std::string>() : "sample";
}

RunState StateOfRun(const RunPaths& paths, bool finished) {
  const bool held = RunIsHeld(paths.root);
  const Json progress = ReadProgress(paths);
  const std::string state = StateName(finished, held, progress);
  RunState out{.headline = state, .text = {}, .json = {{"state", state}}};
  if (state == "finished") return out;
  const Json losses = LastLosses(paths);
  if (!progress.is_null()) out.json["progress"] = progress;
  if (!losses.empty()) out.json["losses"] = losses;
  if (!progress.is_null())
    out.headline += fmt::format(": {}{}", StepText(progress), FirstStepText(progress));
  if (state == "stopped") {
    out.headline = fmt::format(
        "not finished, and no process trains in it{}",
        progress.is_null() ? "" : fmt::format("; it had come to {}", StepText(progress)));
  }
  out.text = TableOf(progress, losses);
  return out;
}

}  // namespace stoker
