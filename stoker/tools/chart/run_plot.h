// Compares runs as curves: the figures, the x axis and the smoothing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/tools/chart/chart.h"
#include "stoker/tools/chart/run_metrics.h"

namespace stoker {

enum class PlotAxis { kStep, kEpoch, kTime };

struct RunPlotOptions {
  // Names, such as "loss", or with the kind of line, such as "eval.loss". None: loss and accuracy,
  // if there are any.
  std::vector<std::string> metrics;
  PlotAxis by = PlotAxis::kStep;
  double smooth = 0;  // weight of earlier values (run/smoothing.h), in [0, 1)
  bool log = false;   // y axes in powers of ten
};

struct RunPlot {
  Chart chart;                        // a panel for each metric, a colour for each run
  std::vector<std::string> warnings;  // of runs that lack a metric, and of those of their files
  // {"by": "step", "runs": [{"run", "curves": [{"metric", "kind", "x", "y"}]}]}: all points, time
  // in seconds.
  Json json;
};

// Errors (kInvalidArgument, with the alternatives): a metric that no run has; no time in the
// metrics of a run, if curves over time are wanted.
Result<RunPlot> PlotRuns(std::span<const RunMetrics> runs, const RunPlotOptions& options);

// Returns kInvalidArgument, beginning with the name of the option, if no run has the metric.
Status CheckMetric(std::span<const RunMetrics> runs, std::string_view option,
                   const std::string& metric);

// What a run has to get to.
struct MetricGoal {
  std::string metric;
  double value = 0;
};
// Parses "accuracy=0.91", the value of --reach. Errors: kInvalidArgument.
Result<MetricGoal> ParseMetricGoal(const std::string& text);

// Returns whether a figure of this name is better when it is lower: a loss or an error.
bool LessIsBetter(std::string_view metric);

// Where a figure first reached a value: from above if its name means that lower is better (loss,
// error, mse, mae), else from below.
struct ReachedAt {
  double step = 0;
  double epoch = 0;
  double seconds = 0;
};
// Returns nothing if it never did. If several kinds of line have the figure the last counts, so
// "accuracy" is that of evaluations.
std::optional<ReachedAt> FirstReaching(const RunMetrics& run, const std::string& metric,
                                       double value);

// Returns the names of runs for a legend: the last part of each path if these differ.
std::vector<std::string> RunLabels(std::span<const RunMetrics> runs);

}  // namespace stoker
