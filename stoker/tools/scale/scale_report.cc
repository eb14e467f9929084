#include "stoker/tools/scale/scale_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "stoker/base/json_or_null.h"
#include "stoker/run/batch_per_rank.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

constexpr int kSchema = 1;

std::string Percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string SpeedupText(const NoisyChange& speedup) {
  if (!speedup.low || !speedup.high) return fmt::format("{:.2f}", speedup.change);
  return fmt::format("{:.2f} ({:.2f} to {:.2f})", speedup.change, *speedup.low, *speedup.high);
}

// The accuracy, or whatever the evaluations measured first; null if there were none.
const EvaluationFigure* LastFigure(const ScaleRow& row) {
  return row.point.figures.evaluations.empty() ? nullptr : &row.point.figures.evaluations.front();
}

// Of the same batch, each beside the fewest ranks.
void Compare(std::vector<ScaleRow>& rows) {
  std::map<int64_t, const ScalePoint*> first;
  for (const ScaleRow& row : rows) first.emplace(row.point.batch, &row.point);
  for (ScaleRow& row : rows) {
    const ScalePoint& base = *first.at(row.point.batch);
    row.speedup = CompareRates(base.figures.windows, row.point.figures.windows);
    if (base.samples_per_s() > 0)
      row.speedup.change = row.point.samples_per_s() / base.samples_per_s();
    const double ranks = static_cast<double>(row.point.ranks) / static_cast<double>(base.ranks);
    row.efficiency = row.speedup.change / ranks;
  }
}

std::vector<ScaleFigure> FiguresOf(const std::vector<ScaleRow>& rows) {
  std::vector<ScaleFigure> figures;
  for (const ScaleRow& row : rows) {
    figures.push_back({.batch = row.point.batch,
                       .ranks = row.point.ranks,
                       .samples_per_s = row.point.samples_per_s(),
                       .wait_for_ranks = row.point.wait_for_ranks,
                       .gradient_bytes = row.point.weight_bytes,
                       .differs = row.speedup.verdict != NoiseVerdict::kNoise});
  }
  return figures;
}

Json RowJson(const ScaleRow& row, bool kept) {
  const ScalePoint& point = row.point;
  Json last = Json::object();
  for (const EvaluationFigure& figure : point.figures.evaluations)
    last[figure.name] = FiniteOrNull(figure.last);
  return {{"ranks", point.ranks},
          {"batch", point.batch},
          {"samples_per_s", OrNull(point.figures.samples_per_s)},
          {"step_s", point.step_seconds},
          {"epochs", point.epochs},
          {"epoch_s", OrNull(point.epoch_seconds())},
          {"speedup", row.speedup.ToJson()},
          {"efficiency", FiniteOrNull(row.efficiency)},
          {"wait_for_ranks", point.wait_for_ranks},
          {"wait_for_data", point.wait_for_data},
          {"evaluation", last},
          {"reached_after_s", row.reached ? Json(row.reached->seconds) : Json()},
          {"run", kept ? Json(point.record.name) : Json()}};
}

}  // namespace

ScaleReport MakeScaleReport(const std::string& recipe, std::vector<ScalePoint> points, int64_t cpus,
                            std::optional<ComparedGoal> goal) {
  ScaleReport report{.recipe = recipe, .cpus = cpus};
  std::ranges::sort(points, {},
                    [](const ScalePoint& point) { return std::pair(point.batch, point.ranks); });
  std::vector<RunRecord> records;
  for (const ScalePoint& point : points) records.push_back(point.record);
  const Comparison comparison = CompareRuns(std::move(records), std::move(goal));
  for (ScalePoint& point : points) report.rows.push_back({.point = std::move(point)});
  Compare(report.rows);
  if (comparison.goal) {
    report.metric = comparison.goal->metric;
    report.goal = comparison.goal->value;
    for (size_t i = 0; i < report.rows.size(); ++i)
      report.rows[i].reached = comparison.goal->reached[i];
  }
  const std::string batch_key =
      report.rows.empty() ? "" : BatchSizeKey(report.rows.front().point.record.recipe);
  report.findings = FindLosses(FiguresOf(report.rows), cpus, batch_key);
  return report;
}

std::string ScaleReport::ToText() const {
  if (rows.empty()) return {};
  const std::string noun = rows.front().point.figures.noun;
  const EvaluationFigure* const evaluated = LastFigure(rows.front());
  std::vector<std::string> heading = {"batch",      "ranks", noun + "s/s",      "speedup",
                                      "efficiency", "epoch", "waits for ranks", "for data"};
  if (evaluated != nullptr) heading.push_back(evaluated->name);
  if (metric) heading.push_back(fmt::format("{} {} after", *metric, FigureText(goal)));
  std::vector<std::vector<std::string>> table = {heading};
  for (const ScaleRow& row : rows) {
    const ScalePoint& point = row.point;
    const std::optional<double> epoch = point.epoch_seconds();
    table.push_back(
        {fmt::format("{}", point.batch), fmt::format("{}", point.ranks),
         WithThousands(point.samples_per_s()), SpeedupText(row.speedup),
         fmt::format("{:.0f} %", 100 * row.efficiency), epoch ? DurationText(*epoch) : "-",
         point.ranks > 1 ? Percent(point.wait_for_ranks) : "-", Percent(point.wait_for_data)});
    const EvaluationFigure* const last = LastFigure(row);
    if (evaluated != nullptr) table.back().push_back(last ? FigureText(last->last) : "-");
    if (metric) table.back().push_back(row.reached ? DurationText(row.reached->seconds) : "never");
  }
  std::string text = fmt::format("{}: epochs in each run: {:.3g}; {}\n", recipe,
                                 rows.front().point.epochs, CountText(cpus, "CPU"));
  text += TableText(table);
  if (findings.empty() && rows.size() > 1)
    text += "No number of ranks is slower than a smaller one, with the same batch.\n";
  for (const ScaleFinding& finding : findings) text += finding.ToText(noun) + "\n";
  return text;
}

Json ScaleReport::ToJson(bool kept) const {
  Json json = {{"schema", kSchema},
               {"recipe", recipe},
               {"cpus", cpus},
               {"samples_are", rows.empty() ? Json() : Json(rows.front().point.figures.noun)},
               {"goal", metric ? Json{{"metric", *metric}, {"value", goal}} : Json()},
               {"runs", Json::array()},
               {"findings", Json::array()}};
  for (const ScaleRow& row : rows) json["runs"].push_back(RowJson(row, kept));
  for (const ScaleFinding& finding : findings) json["findings"].push_back(finding.ToJson());
  return json;
}

Chart ScaleReport::ToChart() const {
  Chart chart{.title = recipe, .x_label = "ranks", .panels = {}};
  if (rows.empty()) return chart;
  ChartPanel panel{.label = rows.front().point.figures.noun + "s a second", .series = {}};
  std::map<int64_t, std::pair<ChartSeries, ChartSeries>> by_batch;  // measured, perfect
  for (const ScaleRow& row : rows) {
    const auto ranks = static_cast<double>(row.point.ranks);
    auto& [measured, perfect] = by_batch[row.point.batch];
    const double base = perfect.x.empty() ? row.point.samples_per_s() / ranks
                                          : perfect.y.front() / perfect.x.front();
    measured.x.push_back(ranks);
    measured.y.push_back(row.point.samples_per_s());
    perfect.x.push_back(ranks);
    perfect.y.push_back(base * ranks);
  }
  for (auto& [batch, lines] : by_batch) {
    const size_t color = chart.legend.size();
    lines.first.color = lines.second.color = color;
    lines.first.marks = true;
    lines.second.faint = true;
    panel.series.push_back(std::move(lines.second));
    panel.series.push_back(std::move(lines.first));
    chart.legend.push_back({.text = fmt::format("batch {}", batch), .color = color});
  }
  chart.panels.push_back(std::move(panel));
  return chart;
}

}  // namespace stoker
