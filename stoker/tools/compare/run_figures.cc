#include "stoker/tools/compare/run_figures.h"

#include <algorithm>
#include <cmath>

#include "stoker/base/json_or_null.h"
#include "stoker/tools/chart/run_plot.h"

namespace stoker {
namespace {

// With fewer windows than this, none can be spared.
constexpr size_t kManyWindows = 6;

const MetricColumn* Column(const RunMetrics& metrics, std::string_view kind,
                           std::string_view name) {
  for (const MetricColumn& column : metrics.columns) {
    if (column.kind == kind && column.name == name) return &column;
  }
  return nullptr;
}

// The seconds of training from line to line. A run that a version without this figure began counts
// each line as much as the others.
std::vector<double> SecondsOfLines(const MetricColumn& column) {
  std::vector<double> seconds;
  double before = 0;
  for (const double now : column.seconds) {
    const double since = now - before;
    seconds.push_back(since > 0 ? since : std::isnan(now) ? 1 : 0);
    if (now > before) before = now;
  }
  return seconds;
}

void AddRates(const RunRecord& run, RunFigures& figures) {
  const MetricColumn* const rates = Column(run.metrics, "train", "images_per_s");
  if (rates == nullptr) return;
  const std::vector<double> seconds = SecondsOfLines(*rates);
  double amount = 0, total = 0;
  for (size_t i = 0; i < seconds.size(); ++i) {
    const double rate = rates->value[i];
    if (!(rate > 0) || !std::isfinite(rate) || seconds[i] <= 0) continue;
    figures.windows.push_back({.amount = rate * seconds[i], .seconds = seconds[i]});
    amount += rate * seconds[i];
    total += seconds[i];
  }
  if (total > 0) figures.samples_per_s = amount / total;
  // The first steps start the pipeline and fill caches.
  if (figures.windows.size() >= kManyWindows) figures.windows.erase(figures.windows.begin());
}

void AddWaited(const RunRecord& run, RunFigures& figures) {
  const MetricColumn* const waited = Column(run.metrics, "train", "waited");
  if (waited == nullptr) return;
  const std::vector<double> seconds = SecondsOfLines(*waited);
  double share = 0, total = 0;
  for (size_t i = 0; i < seconds.size(); ++i) {
    if (!std::isfinite(waited->value[i])) continue;
    share += waited->value[i] * seconds[i];
    total += seconds[i];
  }
  if (total > 0) figures.waited = share / total;
}

// "accuracy", and "top5" of the metric topK, also of one of several targets.
bool IsShare(std::string_view name) {
  name = name.substr(name.rfind('.') + 1);
  if (name == "accuracy") return true;
  return name.starts_with("top") && name.size() > 3 &&
         name.find_first_not_of("0123456789", 3) == name.npos;
}

EvaluationFigure FigureOf(const MetricColumn& column, const MetricColumn* samples) {
  EvaluationFigure figure{.name = column.name,
                          .last = column.value.back(),
                          .last_step = column.step.back(),
                          .less_is_better = LessIsBetter(column.name),
                          .is_share = IsShare(column.name)};
  figure.best = std::nan("");
  for (size_t i = 0; i < column.value.size(); ++i) {
    const double value = column.value[i];
    const bool better = figure.less_is_better ? value < figure.best : value > figure.best;
    if (std::isnan(value) || (!better && !std::isnan(figure.best))) continue;
    figure.best = value;
    figure.best_step = column.step[i];
  }
  const double count = samples == nullptr || samples->value.empty() ? 0 : samples->value.back();
  figure.samples = count > 0 && count < 1e15 ? static_cast<int64_t>(count) : 0;
  return figure;
}

double NumberIn(const Json& json, const char* key) {
  const Json value = json.value(key, Json());
  return value.is_number() ? value.get<double>() : std::nan("");
}

}  // namespace

const EvaluationFigure* RunFigures::Find(const std::string& name) const {
  const auto found = std::ranges::find(evaluations, name, &EvaluationFigure::name);
  return found == evaluations.end() ? nullptr : &*found;
}

RunFigures FiguresOf(const RunRecord& run) {
  RunFigures figures;
  AddRates(run, figures);
  AddWaited(run, figures);
  if (const MetricColumn* const loss = Column(run.metrics, "train", "loss"); loss != nullptr) {
    figures.steps = loss->step.back();
    if (!std::isnan(loss->seconds.back())) figures.train_seconds = loss->seconds.back();
  }
  const Json progress = run.state.json.value("progress", Json());
  for (const Json& json : {progress, run.summary.value_or(Json())}) {
    if (!json.is_object()) continue;
    figures.noun = NounIn(json);
    if (const double steps = NumberIn(json, "step"); steps >= 0) figures.steps = steps;
    if (const double seconds = NumberIn(json, "train_seconds"); seconds >= 0)
      figures.train_seconds = seconds;
    if (const double bytes = NumberIn(json, "peak_rss_bytes"); bytes > 0 && bytes < 1e18)
      figures.peak_rss_bytes = static_cast<int64_t>(bytes);
  }
  const MetricColumn* const samples = Column(run.metrics, "eval", "samples");
  for (const MetricColumn& column : run.metrics.columns) {
    if (column.kind == "eval" && column.name != "samples" && column.name != "seconds")
      figures.evaluations.push_back(FigureOf(column, samples));
  }
  // Accuracy is what most look for first.
  std::ranges::stable_sort(figures.evaluations, {}, [](const EvaluationFigure& figure) {
    return figure.name == "accuracy" ? 0 : figure.name == "loss" ? 1 : 2;
  });
  return figures;
}

Json RunFigures::ToJson() const {
  Json metrics = Json::object();
  for (const EvaluationFigure& figure : evaluations) {
    metrics[figure.name] = {{"last", FiniteOrNull(figure.last)},
                            {"last_step", FiniteOrNull(figure.last_step)},
                            {"best", FiniteOrNull(figure.best)},
                            {"best_step", FiniteOrNull(figure.best_step)},
                            {"samples", figure.samples > 0 ? Json(figure.samples) : Json()}};
  }
  return {{"samples_per_s", OrNull(samples_per_s)},
          {"windows", windows.size()},
          {"waited", OrNull(waited)},
          {"train_seconds", OrNull(train_seconds)},
          {"steps", OrNull(steps)},
          {"peak_rss_bytes", OrNull(peak_rss_bytes)},
          {"samples_are", noun},
          {"metrics", metrics}};
}

}  // namespace stoker
