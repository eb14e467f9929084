#include "stoker/tools/scale/scale_run.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "stoker/data/recipe/plugins.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/kept_file.h"
#include "stoker/run/run_directory.h"
#include "stoker/tools/launch/rank_group.h"
#include "stoker/tools/program/exit_code.h"
#include "stoker/tools/program/interrupt.h"

namespace stoker {
namespace {

constexpr std::string_view kErrorPrefix = "stoker: error: ";
// The name of the span in train/step/gradient_exchange.cc.
constexpr std::string_view kWaitForRanks = "wait for other ranks";
constexpr std::string_view kLongestTrace = "86400";

// The last error in the log of a rank; empty if there is none.
std::string LastError(const std::filesystem::path& log) {
  const Result<std::string> text = ReadKeptTextFile(log);
  if (!text.ok()) return {};
  std::string_view rest = *text, last;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    if (line.starts_with(kErrorPrefix)) last = line.substr(kErrorPrefix.size());
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::string(last);
}

// The ranks that were told of the failure say so; the one that failed first knows the cause.
Status FailureOf(const RankFailure& failure, const ScaleRunOptions& options,
                 const std::filesystem::path& logs) {
  std::string says = LastError(logs / fmt::format("rank-{}.log", failure.rank));
  if (says.empty()) says = failure.Sentence();
  const std::string message = fmt::format(
      "in {}: {}",
      options.ranks == 1 ? std::string("one process") : fmt::format("{} processes", options.ranks),
      says);
  return failure.exit_code() == kExitUsage ? InvalidArgument("{}", message)
                                           : FailedPrecondition("{}", message);
}

// From profile.json, which has exact sums of all steps (docs/profiles.md).
Status ReadSteps(const std::filesystem::path& run, ScalePoint& point) {
  const std::string path = RunPaths{run.string()}.profile();
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadKeptTextFile(path));
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto number = [&](const char* key) {
    const Json value = json.is_object() ? json.value(key, Json()) : Json();
    return value.is_number() ? value.get<double>() : 0.0;
  };
  const double steps = number("step"), seconds = number("steps_s"), samples = number("samples");
  if (!(steps > 0) || !(seconds > 0) || !(samples > 0))
    return FailedPrecondition("{}: tells of no step, so there is nothing to measure", path);
  point.step_seconds = seconds / steps;
  point.batch = std::llround(samples / steps);
  point.figures.samples_per_s = samples / seconds;
  point.figures.train_seconds = seconds;
  point.wait_for_data = number("waited_s") / seconds;
  return OkStatus();
}

Result<ScalePoint> Measured(const ScaleRunOptions& options, const std::filesystem::path& run,
                            const std::filesystem::path& folded) {
  ScalePoint point{.ranks = options.ranks};
  STOKER_ASSIGN_OR_RETURN(point.record, ReadRunRecord(run.string()));
  point.figures = FiguresOf(point.record);
  STOKER_RETURN_IF_ERROR(ReadSteps(run, point));
  for (const MetricColumn& column : point.record.metrics.columns) {
    if (column.kind != "train") continue;  // evaluations count epochs that have begun
    for (const double epoch : column.epoch) point.epochs = std::fmax(point.epochs, epoch);
  }
  STOKER_ASSIGN_OR_RETURN(const std::string stacks, ReadKeptTextFile(folded));
  point.wait_for_ranks = ShareOfSteps(stacks, kWaitForRanks);
  std::error_code ignored;
  const uintmax_t bytes = std::filesystem::file_size(RunPaths{run.string()}.weights(), ignored);
  if (!ignored) point.weight_bytes = bytes;
  return point;
}

}  // namespace

std::optional<double> ScalePoint::epoch_seconds() const {
  if (!(epochs > 0) || !figures.train_seconds) return std::nullopt;
  return *figures.train_seconds / epochs;
}

double ShareOfSteps(std::string_view folded, std::string_view name) {
  constexpr std::string_view kStep = ";step";
  double steps = 0, in_name = 0;
  while (!folded.empty()) {
    const size_t end = std::min(folded.find('\n'), folded.size());
    const std::string_view line = folded.substr(0, end);
    folded.remove_prefix(std::min(end + 1, folded.size()));
    const size_t space = line.rfind(' ');
    if (space == line.npos) continue;
    const std::string_view stack = line.substr(0, space);
    double time = 0;
    const std::string_view number = line.substr(space + 1);
    const auto [last, error] = std::from_chars(number.data(), number.data() + number.size(), time);
    if (error != std::errc()) continue;
    const size_t step = stack.find(kStep);
    if (step == stack.npos) continue;
    const std::string_view inside = stack.substr(step + kStep.size());
    if (!inside.empty() && inside.front() != ';') continue;  // "steps"
    steps += time;
    // A frame of this name, and what is in it.
    const size_t at = inside.find(name);
    const bool whole = at != inside.npos && at > 0 && inside[at - 1] == ';' &&
                       (at + name.size() == inside.size() || inside[at + name.size()] == ';');
    if (whole) in_name += time;
  }
  return steps > 0 ? in_name / steps : 0;
}

Result<ScalePoint> TrainInRanks(const ScaleRunOptions& options) {
  const std::filesystem::path run = options.folder / "run", folded = options.folder / "folded",
                              logs = options.folder / "logs";
  STOKER_RETURN_IF_ERROR(CreateDirectories(logs.string()));
  std::vector<std::string> words = {
      "train",    options.recipe,  "--run",           run.string(),
      "--folded", folded.string(), "--trace-seconds", std::string(kLongestTrace)};
  for (const std::string& assignment : options.set) {
    words.emplace_back("--set");
    words.push_back(assignment);
  }
  if (GetPluginPolicy() == PluginPolicy::kLoad) words.emplace_back("--allow-code");
  STOKER_ASSIGN_OR_RETURN(const std::optional<RankFailure> failure,
                          RunRanks({.words = std::move(words),
                                    .ranks = static_cast<int>(options.ranks),
                                    .share_cpus = options.share_cpus,
                                    .log_folder = logs.string()}));
  if (Interrupted()) return Cancelled("stopped in a training of {} ranks", options.ranks);
  if (failure) return FailureOf(*failure, options, logs);
  return Measured(options, run, folded);
}

}  // namespace stoker
