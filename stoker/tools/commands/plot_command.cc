#include "stoker/tools/commands/plot_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "stoker/base/json_text.h"
#include "stoker/base/log.h"
#include "stoker/base/printable.h"
#include "stoker/tools/program/arguments.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

constexpr const char* kPlotAbout =
    "Plots what runs measured, side by side.\n"
    "In the terminal a line ends in the letter of its run, a capital one where the figure is of "
    "evaluations.";
constexpr const char* kPlotFooter =
    "Example: stoker plot runs/* --by time --reach accuracy=0.91 --to runs.svg\n"
    "Exit: 0 shown, 1 failed, 2 wrong usage";

std::string RangeText(const MetricColumn& column) {
  double low = NAN, high = NAN;
  for (const double value : column.value) {
    low = std::fmin(low, value);
    high = std::fmax(high, value);
  }
  return fmt::format("{:.4g} .. {:.4g}", low, high);
}

std::string TimeText(double seconds) { return std::isnan(seconds) ? "?" : DurationText(seconds); }

std::string ReachedText(const std::optional<ReachedAt>& reached) {
  if (!reached) return "never";
  return fmt::format("step {}, {}", WithThousands(reached->step), TimeText(reached->seconds));
}

std::string Table(const std::vector<RunMetrics>& runs, const std::optional<MetricGoal>& goal,
                  const RunPlot& plot) {
  std::vector<std::vector<std::string>> rows = {{"run", "figure", "steps", "last", "range"}};
  if (goal) rows[0].push_back(fmt::format("reached {} = {:g}", goal->metric, goal->value));
  const std::vector<std::string> labels = RunLabels(runs);
  for (size_t i = 0; i < runs.size(); ++i) {
    bool first = true;
    for (const Json& curve : plot.json["runs"][i]["curves"]) {
      const auto shown = std::ranges::find_if(runs[i].columns, [&](const MetricColumn& column) {
        return curve["metric"] == column.name && curve["kind"] == column.kind;
      });
      std::vector<std::string> row = {
          first ? labels[i] : "", fmt::format("{}.{}", shown->kind, shown->name),
          WithThousands(shown->step.back()), fmt::format("{:.4g}", shown->value.back()),
          RangeText(*shown)};
      if (goal && first)
        row.push_back(ReachedText(FirstReaching(runs[i], goal->metric, goal->value)));
      rows.push_back(std::move(row));
      first = false;
    }
  }
  return TableText(rows);
}

// How long runs waited for their data, and for what.
std::string StarvationText(const std::vector<RunMetrics>& runs) {
  std::string text;
  const std::vector<std::string> labels = RunLabels(runs);
  for (size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].starved) continue;
    text += fmt::format("{}: {}\n  try: {}\n", Printable(labels[i]), runs[i].starved->Sentence(),
                        runs[i].starved->advice);
  }
  return text.empty() ? "" : "\n" + text;
}

Json ReachedJson(const RunMetrics& run, const MetricGoal& goal) {
  const auto reached = FirstReaching(run, goal.metric, goal.value);
  if (!reached) return nullptr;
  return {{"step", reached->step}, {"epoch", reached->epoch}, {"train_seconds", reached->seconds}};
}

}  // namespace

void AddPlotCommand(Program& program) {
  auto [app, arguments] =
      program.Add<PlotArguments>("plot", kPlotAbout, kPlotFooter, RunPlotCommand);
  RunPlotOptions& options = arguments.options;
  app.add_option("RUN", arguments.runs, "directories of runs, or metrics files")
      ->type_name("")
      ->required();
  app.add_option("--metric", options.metrics,
                 "what to plot, such as loss, eval.loss or lr; may be given several times")
      ->type_name("NAME")
      ->default_str("loss and accuracy")
      ->allow_extra_args(false);
  const std::map<std::string, PlotAxis> axes = {
      {"step", PlotAxis::kStep}, {"epoch", PlotAxis::kEpoch}, {"time", PlotAxis::kTime}};
  app.add_option("--by", options.by, "over steps, epochs, or time spent in training steps")
      ->type_name("step|epoch|time")
      ->transform(CLI::Validator(
          [axes](std::string& given) -> std::string {
            const auto axis = axes.find(CLI::detail::to_lower(given));
            if (axis == axes.end()) return fmt::format("{} is not step, epoch or time", given);
            given = std::to_string(static_cast<int>(axis->second));
            return {};
          },
          ""))
      ->default_str("step");
  app.add_option("--smooth", options.smooth, "weight of the past in a running mean, 0..0.999")
      ->type_name("W")
      ->check(BetweenCheck(0, 0.999))
      ->default_str("0");
  app.add_option("--reach", arguments.reach,
                 "also say when each run first got there, such as accuracy=0.91")
      ->type_name("NAME=VALUE");
  app.add_flag("--log", options.log, "y axes in powers of ten");
  AddChartOptions(app, arguments.chart);
  AddJsonOption(app, arguments.json);
}

namespace {

// A run that ended before its first line is left out: of a pattern such as runs/* it is one of
// many.
Result<std::vector<RunMetrics>> ReadRuns(const std::vector<std::string>& names) {
  std::vector<RunMetrics> runs;
  std::vector<Status> none_yet;
  for (const std::string& name : names) {
    Result<RunMetrics> metrics = ReadRunMetrics(name);
    if (metrics.ok()) {
      runs.push_back(*std::move(metrics));
    } else if (metrics.status().code() == StatusCode::kFailedPrecondition) {
      none_yet.push_back(metrics.status());
    } else {
      return metrics.status();
    }
  }
  if (runs.empty() && !none_yet.empty()) return none_yet.front();
  for (const Status& status : none_yet) LogWarning("{}; it is left out", status.message());
  return runs;
}

}  // namespace

Status RunPlotCommand(const PlotArguments& arguments) {
  std::optional<MetricGoal> goal;
  if (!arguments.reach.empty()) {
    STOKER_ASSIGN_OR_RETURN(goal, ParseMetricGoal(arguments.reach));
  }
  STOKER_ASSIGN_OR_RETURN(const std::vector<RunMetrics> runs, ReadRuns(arguments.runs));
  if (goal) STOKER_RETURN_IF_ERROR(CheckMetric(runs, "--reach", goal->metric));
  STOKER_ASSIGN_OR_RETURN(RunPlot plot, PlotRuns(runs, arguments.options));
  for (const std::string& warning : plot.warnings) LogWarning("{}", warning);
  STOKER_RETURN_IF_ERROR(WriteChart(plot.chart, arguments.chart));
  if (!arguments.json)
    return PrintResult(ChartForTerminal(plot.chart) + "\n" + Table(runs, goal, plot) +
                       StarvationText(runs));
  for (size_t i = 0; i < runs.size(); ++i) {
    if (goal) plot.json["runs"][i]["reached"] = ReachedJson(runs[i], *goal);
    if (runs[i].starved) plot.json["runs"][i]["starved"] = runs[i].starved->ToJson();
  }
  return PrintResult(DumpJson(plot.json) + "\n");
}

}  // namespace stoker
