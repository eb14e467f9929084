#include "stoker/tools/chart/run_plot.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <string_view>

#include "stoker/base/config.h"
#include "stoker/run/smoothing.h"

namespace stoker {
namespace {

constexpr size_t kMostPoints = 2000;
constexpr std::string_view kEvaluation = "eval";

// "loss" or "eval.loss".
bool IsNamed(const MetricColumn& column, std::string_view metric) {
  return metric == column.name || metric == fmt::format("{}.{}", column.kind, column.name);
}

std::vector<const MetricColumn*> ColumnsOf(const RunMetrics& run, std::string_view metric) {
  std::vector<const MetricColumn*> columns;
  for (const MetricColumn& column : run.columns) {
    if (IsNamed(column, metric)) columns.push_back(&column);
  }
  return columns;
}

bool AnyHas(std::span<const RunMetrics> runs, std::string_view metric) {
  return std::ranges::any_of(
      runs, [&](const RunMetrics& run) { return !ColumnsOf(run, metric).empty(); });
}

std::vector<std::string> NamesIn(std::span<const RunMetrics> runs) {
  std::set<std::string> names;
  for (const RunMetrics& run : runs) {
    for (const MetricColumn& column : run.columns) names.insert(column.name);
  }
  return {names.begin(), names.end()};
}

Result<std::vector<std::string>> MetricsToPlot(std::span<const RunMetrics> runs,
                                               const RunPlotOptions& options) {
  std::vector<std::string> metrics = options.metrics;
  if (metrics.empty()) {
    for (const char* usual : {"loss", "accuracy"}) {
      if (AnyHas(runs, usual)) metrics.push_back(usual);
    }
    if (metrics.empty()) metrics.push_back(NamesIn(runs).front());
  }
  for (const std::string& metric : metrics) {
    STOKER_RETURN_IF_ERROR(CheckMetric(runs, "--metric", metric));
  }
  return metrics;
}

const std::vector<double>& PlacesOf(const MetricColumn& column, PlotAxis by) {
  switch (by) {
    case PlotAxis::kStep: return column.step;
    case PlotAxis::kEpoch: return column.epoch;
    case PlotAxis::kTime: break;
  }
  return column.seconds;
}

std::string_view NameOf(PlotAxis by) {
  constexpr std::string_view kNames[] = {"step", "epoch", "time"};
  return kNames[static_cast<size_t>(by)];
}

// The lowest and the highest of every so many points, so that no peak is lost.
ChartSeries Thinned(ChartSeries series) {
  const size_t points = series.x.size();
  if (points <= kMostPoints) return series;
  ChartSeries thin = series;
  thin.x.clear();
  thin.y.clear();
  const size_t bins = kMostPoints / 2;
  for (size_t bin = 0; bin < bins; ++bin) {
    const size_t begin = points * bin / bins, end = points * (bin + 1) / bins;
    size_t low = begin, high = begin;
    for (size_t i = begin; i < end; ++i) {
      if (series.y[i] < series.y[low]) low = i;
      if (series.y[i] > series.y[high]) high = i;
    }
    for (const size_t i : {std::min(low, high), std::max(low, high)}) {
      thin.x.push_back(series.x[i]);
      thin.y.push_back(series.y[i]);
    }
  }
  return thin;
}

std::vector<double> SmoothedBy(double weight, const std::vector<double>& values) {
  SmoothedValue mean(weight);
  std::vector<double> smooth;
  for (const double value : values) smooth.push_back(mean.Add(value));
  return smooth;
}

class Plotter {
 public:
  Plotter(std::span<const RunMetrics> runs, const RunPlotOptions& options)
      : runs_(runs), options_(options), labels_(RunLabels(runs)) {
    for (size_t i = 0; i < runs.size(); ++i) {
      if (!runs[i].warning.empty()) plot_.warnings.push_back(runs[i].warning);
      plot_.chart.legend.push_back({labels_[i], i});
      plot_.json["runs"].push_back({{"run", runs[i].name}, {"curves", Json::array()}});
    }
    plot_.json["by"] = NameOf(options.by);
  }

  Result<RunPlot> Plot() {
    STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> metrics, MetricsToPlot(runs_, options_));
    STOKER_RETURN_IF_ERROR(ChooseUnit(metrics));
    for (const std::string& metric : metrics) AddPanel(metric);
    return std::move(plot_);
  }

 private:
  // Seconds, minutes or hours, whichever makes short numbers.
  Status ChooseUnit(const std::vector<std::string>& metrics) {
    plot_.chart.x_label = NameOf(options_.by);
    double longest = 0;
    for (const RunMetrics& run : runs_) {
      for (const std::string& metric : metrics) {
        for (const MetricColumn* column : ColumnsOf(run, metric)) {
          STOKER_ASSIGN_OR_RETURN(const double last, LastPlace(run, *column));
          longest = std::max(longest, last);
        }
      }
    }
    if (options_.by != PlotAxis::kTime) return OkStatus();
    const bool hours = longest > 3 * 3600, minutes = longest > 5 * 60;
    unit_ = hours ? 3600 : minutes ? 60 : 1;
    plot_.chart.x_label = fmt::format("time in training ({})", hours     ? "hours"
                                                               : minutes ? "minutes"
                                                                         : "seconds");
    return OkStatus();
  }

  Result<double> LastPlace(const RunMetrics& run, const MetricColumn& column) const {
    const double last = PlacesOf(column, options_.by).back();
    if (std::isfinite(last)) return last;
    return InvalidArgument(
        "{}: its metrics do not say the {} of {}; plot over the steps (--by step)", run.name,
        NameOf(options_.by), column.name);
  }

  void AddPanel(const std::string& metric) {
    ChartPanel panel{.label = metric, .series = {}, .log = options_.log};
    std::set<std::string> kinds;
    for (size_t i = 0; i < runs_.size(); ++i) {
      const auto columns = ColumnsOf(runs_[i], metric);
      if (columns.empty()) {
        plot_.warnings.push_back(fmt::format("{}: has no {}", runs_[i].name, metric));
      }
      for (const MetricColumn* column : columns) {
        AddCurve(*column, i, panel);
        kinds.insert(column->kind);
      }
    }
    if (kinds.size() > 1) panel.label += " (with marks: of evaluations)";
    if (options_.smooth > 0) panel.label += fmt::format(", smoothed by {}", options_.smooth);
    plot_.chart.panels.push_back(std::move(panel));
  }

  void AddCurve(const MetricColumn& column, size_t run, ChartPanel& panel) {
    ChartSeries series{.name = "", .x = PlacesOf(column, options_.by), .y = column.value};
    for (double& x : series.x) x /= unit_;
    series.color = run;
    series.marks = column.kind == kEvaluation;
    if (options_.smooth > 0) {
      ChartSeries raw = series;
      raw.faint = true;
      panel.series.push_back(Thinned(std::move(raw)));
      series.y = SmoothedBy(options_.smooth, series.y);
    }
    plot_.json["runs"][run]["curves"].push_back({{"metric", column.name},
                                                 {"kind", column.kind},
                                                 {"x", PlacesOf(column, options_.by)},
                                                 {"y", series.y}});
    panel.series.push_back(Thinned(std::move(series)));
  }

  const std::span<const RunMetrics> runs_;
  const RunPlotOptions& options_;
  const std::vector<std::string> labels_;
  double unit_ = 1;
  RunPlot plot_;
};

}  // namespace

bool LessIsBetter(std::string_view metric) {
  constexpr std::string_view kErrors[] = {"loss", "error", "mse", "mae"};
  metric = metric.substr(metric.rfind('.') + 1);  // of one of several targets
  return std::ranges::any_of(
      kErrors, [&](std::string_view error) { return metric.find(error) != metric.npos; });
}

Result<MetricGoal> ParseMetricGoal(const std::string& text) {
  const size_t equals = text.find('=');
  MetricGoal goal{.metric = text.substr(0, equals), .value = 0};
  const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
  if (!goal.metric.empty() && CLI::detail::lexical_cast(value, goal.value) &&
      std::isfinite(goal.value)) {
    return goal;
  }
  return InvalidArgument(
      "--reach {}: it is a metric and a number, such as accuracy=0.91; `stoker plot --help` "
      "explains",
      text);
}

Status CheckMetric(std::span<const RunMetrics> runs, std::string_view option,
                   const std::string& metric) {
  if (AnyHas(runs, metric)) return OkStatus();
  return InvalidArgument("{} {}: no run has such a figure; {}", option, metric,
                         NameAdvice(metric, NamesIn(runs)));
}

Result<RunPlot> PlotRuns(std::span<const RunMetrics> runs, const RunPlotOptions& options) {
  return Plotter(runs, options).Plot();
}

std::optional<ReachedAt> FirstReaching(const RunMetrics& run, const std::string& metric,
                                       double value) {
  const auto columns = ColumnsOf(run, metric);
  if (columns.empty()) return std::nullopt;
  const MetricColumn& column = *columns.back();
  const bool less_is_better = LessIsBetter(column.name);
  for (size_t i = 0; i < column.value.size(); ++i) {
    const bool there = less_is_better ? column.value[i] <= value : column.value[i] >= value;
    if (there) return ReachedAt{column.step[i], column.epoch[i], column.seconds[i]};
  }
  return std::nullopt;
}

std::vector<std::string> RunLabels(std::span<const RunMetrics> runs) {
  std::vector<std::string> labels;
  std::set<std::string> distinct;
  for (const RunMetrics& run : runs) {
    const std::filesystem::path path(run.name);
    const auto name = path.has_filename() ? path.filename() : path.parent_path().filename();
    distinct.insert(labels.emplace_back(name.string()));
  }
  if (distinct.size() == runs.size() && !distinct.contains("")) return labels;
  labels.clear();
  for (const RunMetrics& run : runs) labels.push_back(run.name);
  return labels;
}

}  // namespace stoker
