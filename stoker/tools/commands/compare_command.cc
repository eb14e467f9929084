#include "stoker/tools/commands/compare_command.h"

#include <cmath>
#include <filesystem>
#include <map>
#include <optional>

#include "stoker/base/json_text.h"
#include "stoker/tools/compare/comparison.h"
#include "stoker/tools/program/arguments.h"
#include "stoker/tools/program/print.h"

namespace stoker {
namespace {

constexpr const char* kCompareAbout =
    "Says what differs between runs, and whether it is more than noise.\n"
    "Compares each RUN with the first: recipe, code, data, machine, the tuner's choices, speed and "
    "accuracy. The noise of speed is that of a run's own lines of metrics, the noise of accuracy "
    "that of so many samples.";
constexpr const char* kCompareFooter =
    "Example: stoker compare runs/before runs/after --reach accuracy=0.91\n"
    "Exit: 0 compared, 1 failed, 2 wrong usage";

Status CheckRuns(const std::vector<std::string>& runs) {
  if (runs.size() < 2) {
    return InvalidArgument(
        "RUN: a comparison needs two runs or more, and one is named; `stoker compare --help` "
        "explains");
  }
  std::map<std::string, std::string> seen;
  for (const std::string& run : runs) {
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(run, error);
    const auto [first, is_new] = seen.emplace(error ? run : real.string(), run);
    if (!is_new) {
      return InvalidArgument("RUN {}: is the same run as {}; name each run once", run,
                             first->second);
    }
  }
  return OkStatus();
}

Result<std::optional<ComparedGoal>> GoalOf(const std::string& reach,
                                           const std::vector<RunRecord>& runs) {
  if (reach.empty()) return std::optional<ComparedGoal>();
  STOKER_ASSIGN_OR_RETURN(const MetricGoal goal, ParseMetricGoal(reach));
  std::vector<RunMetrics> metrics;
  for (const RunRecord& run : runs) metrics.push_back(run.metrics);
  STOKER_RETURN_IF_ERROR(CheckMetric(metrics, "--reach", goal.metric));
  return std::optional<ComparedGoal>({.metric = goal.metric, .value = goal.value});
}

}  // namespace

void AddCompareCommand(Program& program) {
  auto [app, arguments] =
      program.Add<CompareArguments>("compare", kCompareAbout, kCompareFooter, RunCompare);
  app.add_option("RUN", arguments.runs,
                 "directories of two runs or more, as `stoker train` printed them")
      ->type_name("")
      ->required();
  app.add_option("--reach", arguments.reach, "say how long each took to get there")
      ->type_name("NAME=VALUE")
      ->default_str("the accuracy that all reached");
  AddJsonOption(app, arguments.json);
}

Status RunCompare(const CompareArguments& arguments) {
  STOKER_RETURN_IF_ERROR(CheckRuns(arguments.runs));
  std::vector<RunRecord> runs;
  for (const std::string& name : arguments.runs) {
    STOKER_ASSIGN_OR_RETURN(runs.emplace_back(), ReadRunRecord(name));
  }
  STOKER_ASSIGN_OR_RETURN(std::optional<ComparedGoal> goal, GoalOf(arguments.reach, runs));
  const Comparison comparison = CompareRuns(std::move(runs), std::move(goal));
  return PrintResult(arguments.json ? DumpJson(comparison.ToJson()) + "\n" : comparison.ToText());
}

}  // namespace stoker
