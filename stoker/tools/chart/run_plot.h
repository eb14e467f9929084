// Curves of runs side by side: which figures, over what, how smooth.
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
  // as far as there are any.
  std::vector<std::string> metrics;
  PlotAxis by = PlotAxis::kStep;
  double smooth = 0;  // weight of what was before (run/smoothing.h), in [0, 1)
  bool log = false;   // y axes in powers of ten
};

struct RunPlot {
  Chart chart;                        // a panel for each metric, a colour for each run
  std::vector<std::string> warnings;  // of runs that lack a metric, and of those of their files
  // {"by": "step", "runs": [{"run", "curves": [{"metric", "kind", "x", "y"}]}]}: all points, time
  // in seconds.
  Json json;
};

// Errors (kInvalidArgument, with what there is instead): a metric that no run has; no time in the
// metrics of a run, where curves are wanted over it.
Result<RunPlot> PlotRuns(std::span<const RunMetrics> runs, const RunPlotOptions& options);

// kInvalidArgument, beginning with the name of the option, where no run has the metric.
Status CheckMetric(std::span<const RunMetrics> runs, std::string_view option,
                   const std::string& metric);

// Where a figure first got to a value or beyond: below it where the name says that less is better
// (loss, error, mse, mae), else above.
struct ReachedAt {
  double step = 0;
  double epoch = 0;
  double seconds = 0;
};
// Nothing where it never did. Of several kinds of line with that figure the last counts, so that
// "accuracy" is that of evaluations.
std::optional<ReachedAt> FirstReaching(const RunMetrics& run, const std::string& metric,
                                       double value);

// The names of runs as a legend has them: the last part of each path where that tells them apart.
std::vector<std::string> RunLabels(std::span<const RunMetrics> runs);

}  // namespace stoker
