#include "stoker/tools/compare/comparison.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stoker/base/json_or_null.h"

namespace stoker {
namespace {

constexpr int kSchema = 1;

RunComparison ComparePair(const RunRecord& before, const RunRecord& after, const RunFigures& a,
                          const RunFigures& b) {
  RunComparison comparison{.differences = FindDifferences(before, after),
                           .rate = CompareRates(a.windows, b.windows)};
  for (const EvaluationFigure& figure : b.evaluations) {
    const EvaluationFigure* const was = a.Find(figure.name);
    if (was == nullptr) continue;
    RunComparison::Metric metric{.name = figure.name};
    if (figure.is_share && was->samples > 0 && figure.samples > 0)
      metric.last = CompareShares(was->last, was->samples, figure.last, figure.samples);
    comparison.metrics.push_back(std::move(metric));
  }
  return comparison;
}

// The accuracy that all runs reached; none if one has no accuracy.
std::optional<ComparedGoal> CommonGoal(const std::vector<RunFigures>& figures) {
  ComparedGoal goal{.metric = "accuracy", .value = INFINITY};
  for (const RunFigures& each : figures) {
    const EvaluationFigure* const accuracy = each.Find(goal.metric);
    if (accuracy == nullptr || !std::isfinite(accuracy->best)) return std::nullopt;
    goal.value = std::min(goal.value, accuracy->best);
  }
  return goal;
}

Json RunJson(const RunRecord& run, const RunFigures& figures) {
  Json json = {{"run", run.name},
               {"state", run.state.json.value("state", Json())},
               {"figures", figures.ToJson()},
               {"environment", run.environment ? run.environment->ToJson() : Json()},
               {"choices", run.choices ? run.choices->ToJson() : Json()},
               {"data", run.data ? DataFingerprints(*run.data) : Json()},
               {"notes", run.notes}};
  return json;
}

Json ReachedJson(const std::optional<ReachedAt>& reached) {
  if (!reached) return nullptr;
  return {{"step", FiniteOrNull(reached->step)},
          {"epoch", FiniteOrNull(reached->epoch)},
          {"train_seconds", FiniteOrNull(reached->seconds)}};
}

}  // namespace

Comparison CompareRuns(std::vector<RunRecord> runs, std::optional<ComparedGoal> goal) {
  Comparison out{.runs = std::move(runs)};
  for (const RunRecord& run : out.runs) out.figures.push_back(FiguresOf(run));
  for (size_t i = 1; i < out.runs.size(); ++i)
    out.comparisons.push_back(
        ComparePair(out.runs[0], out.runs[i], out.figures[0], out.figures[i]));
  out.goal = goal ? std::move(goal) : CommonGoal(out.figures);
  if (out.goal) {
    for (const RunRecord& run : out.runs)
      out.goal->reached.push_back(FirstReaching(run.metrics, out.goal->metric, out.goal->value));
  }
  return out;
}

Json Comparison::ToJson() const {
  Json json = {{"schema", kSchema},
               {"runs", Json::array()},
               {"comparisons", Json::array()},
               {"goal", nullptr}};
  for (size_t i = 0; i < runs.size(); ++i) json["runs"].push_back(RunJson(runs[i], figures[i]));
  for (size_t i = 0; i < comparisons.size(); ++i) {
    const RunComparison& each = comparisons[i];
    Json metrics = Json::object();
    for (const RunComparison::Metric& metric : each.metrics)
      metrics[metric.name] = metric.last ? metric.last->ToJson() : Json();
    json["comparisons"].push_back({{"before", 0},
                                   {"after", i + 1},
                                   {"differences", each.differences.ToJson()},
                                   {"samples_per_s", each.rate.ToJson()},
                                   {"metrics", metrics}});
  }
  if (goal) {
    json["goal"] = {{"metric", goal->metric}, {"value", goal->value}, {"reached", Json::array()}};
    for (const auto& reached : goal->reached)
      json["goal"]["reached"].push_back(ReachedJson(reached));
  }
  return json;
}

}  // namespace stoker
