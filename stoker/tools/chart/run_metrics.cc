#include "stoker/tools/chart/run_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "stoker/base/json.h"
#include "stoker/io/file.h"
#include "stoker/io/kept_file.h"
#include "stoker/run/published_progress.h"
#include "stoker/run/run_directory.h"

namespace stoker {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr uint64_t kMostBytes = uint64_t{1} << 30;
// A line's place in the run; curves are drawn over these.
constexpr std::string_view kPlaces[] = {"step", "epoch", "train_seconds"};

double NumberOf(const Json& line, std::string_view key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_number() ? found->get<double>() : kNone;
}

MetricColumn& ColumnOf(RunMetrics& metrics, std::string_view kind, const std::string& name) {
  for (MetricColumn& column : metrics.columns) {
    if (column.kind == kind && column.name == name) return column;
  }
  MetricColumn column;
  column.kind = kind;
  column.name = name;
  return metrics.columns.emplace_back(std::move(column));
}

// `figures`: the line itself, or the object in it that holds the metrics of an evaluation.
void AddFigures(const Json& figures, const Json& line, const std::string& kind,
                RunMetrics& metrics) {
  for (const auto& [key, value] : figures.items()) {
    // JSON has no NaN and no infinity: they were written as null.
    if (!value.is_number() && !value.is_null()) continue;
    if (std::ranges::find(kPlaces, key) != std::end(kPlaces)) continue;
    MetricColumn& column = ColumnOf(metrics, kind, key);
    column.step.push_back(NumberOf(line, "step"));
    column.epoch.push_back(NumberOf(line, "epoch"));
    column.seconds.push_back(NumberOf(line, "train_seconds"));
    column.value.push_back(value.is_null() ? kNone : value.get<double>());
  }
}

void AddLine(const Json& line, RunMetrics& metrics) {
  const Json kind = line.value("kind", Json());
  const std::string kind_name = kind.is_string() ? kind.get<std::string>() : "train";
  AddFigures(line, line, kind_name, metrics);
  Json further = line.value("metrics", Json());
  if (!further.is_object()) return;
  // A name that the line has too is that of the line.
  for (const auto& [key, value] : line.items()) further.erase(key);
  AddFigures(further, line, kind_name, metrics);
}

}  // namespace

Result<RunMetrics> ParseRunMetrics(std::string_view text, std::string_view source) {
  RunMetrics metrics;
  int64_t number = 1;
  for (size_t begin = 0; begin < text.size(); ++number) {
    const size_t end = text.find('\n', begin);
    const bool whole = end != std::string_view::npos;
    const std::string_view bytes = text.substr(begin, whole ? end - begin : end);
    const Json line = Json::parse(bytes, nullptr, /*allow_exceptions=*/false);
    const bool good = line.is_object() && line.value("step", Json()).is_number();
    if (good) AddLine(line, metrics);
    if (!good && whole) {
      return DataLoss(
          "{}: line {} (byte {}): is no JSON object with a \"step\"; remove the line, or name "
          "another run",
          source, number, begin);
    }
    if (!good) {
      metrics.warning = fmt::format(
          "{}: line {} (byte {}): was cut short and is left out; a resumed run writes it again",
          source, number, begin);
    }
    if (!whole) break;
    begin = end + 1;
  }
  if (!metrics.columns.empty()) return metrics;
  return FailedPrecondition(
      "{}: holds no metrics yet; the first line comes after train.log_every steps{}", source,
      metrics.warning.empty() ? "" : "; " + metrics.warning);
}

namespace {

// By the summary of a run that has come to its end, else by its progress. Neither need be there.
std::optional<Starvation> StarvationOf(const RunPaths& paths) {
  Result<std::string> text = ReadKeptTextFile(paths.summary(), kMostBytes);
  if (!text.ok()) text = ReadKeptTextFile(ProgressPath(paths.root), kMostBytes);
  if (!text.ok()) return std::nullopt;
  const Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  return json.is_object() ? Starvation::FromJson(json.value("starved", Json())) : std::nullopt;
}

}  // namespace

Result<RunMetrics> ReadRunMetrics(const std::string& run) {
  std::error_code error;
  const bool is_directory = std::filesystem::is_directory(run, error);
  const std::string path = is_directory ? RunPaths{run}.metrics() : run;
  if (is_directory && !std::filesystem::exists(path, error)) {
    return NotFound(
        "{}: has no metrics.jsonl; name the directory of a run, as `stoker train` printed it", run);
  }
  STOKER_ASSIGN_OR_RETURN(const std::string text, is_directory ? ReadKeptTextFile(path, kMostBytes)
                                                               : ReadTextFile(path, kMostBytes));
  STOKER_ASSIGN_OR_RETURN(RunMetrics metrics, ParseRunMetrics(text, path));
  metrics.name = run;
  if (is_directory) metrics.starved = StarvationOf(RunPaths{run});
  return metrics;
}

}  // namespace stoker
