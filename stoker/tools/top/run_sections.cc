// What the screen shows of a run: its progress, the curve of its loss, and its stages.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "stoker/tools/chart/chart_axis.h"
#include "stoker/tools/chart/dot_grid.h"
#include "stoker/tools/program/text.h"
#include "stoker/tools/top/screen_section_internal.h"
#include "stoker/tools/top/top_rates.h"

namespace stoker {
namespace {

// Below this many rows a curve shows nothing.
constexpr size_t kLeastCurveRows = 4;

std::string Figure(double value) { return std::isfinite(value) ? FigureText(value) : "?"; }

std::string StepOf(const PublishedProgress& progress) {
  std::string text = fmt::format("{} of {}", WithThousands(static_cast<double>(progress.step)),
                                 WithThousands(static_cast<double>(progress.total_steps)));
  if (progress.total_steps > 0) {
    text += fmt::format(" ({})", ShareText(static_cast<double>(progress.step) /
                                           static_cast<double>(progress.total_steps)));
  }
  text += fmt::format("  epoch {}", std::isfinite(progress.epoch)
                                        ? fmt::format("{:.2f}", progress.epoch)
                                        : std::string("?"));
  constexpr double kMostLeft = 1e9;  // beyond that it is no forecast
  if (progress.seconds_left >= 0 && progress.seconds_left <= kMostLeft)
    text += fmt::format("  {} left", DurationText(progress.seconds_left));
  if (std::isfinite(progress.lr)) text += fmt::format("  lr {}", Figure(progress.lr));
  return text;
}

std::string RateLine(const ScreenView& view, const PublishedProgress& progress) {
  std::string text =
      fmt::format("{} {}s/s",
                  std::isfinite(progress.samples_per_s) ? WithThousands(progress.samples_per_s)
                                                        : std::string("?"),
                  progress.noun);
  const size_t used = kLabelColumns + ColumnsOf(text) + 2;
  if (view.columns >= used + 8) {
    const size_t room = view.columns - used;
    text += "  " + Heights(ThroughputOf(view.history, room), room, view.glyphs);
  }
  return Labelled(view, "rate", text);
}

// A loss beyond this is on its way to infinity, and would flatten all others.
constexpr double kMostLoss = 1e30;

bool HasPlace(const LossPoint& point) {
  return std::isfinite(point.step) && std::abs(point.loss) <= kMostLoss;
}

std::string LossLine(const ScreenView& view, const PublishedProgress& progress) {
  const std::vector<LossPoint>& losses = view.history.losses;
  std::string text = Figure(progress.loss);
  double low = NAN, high = NAN;
  for (const LossPoint& point : losses) {
    if (!HasPlace(point)) continue;
    low = std::fmin(low, point.loss);
    high = std::fmax(high, point.loss);
  }
  if (std::isfinite(low) && std::isfinite(high)) {
    text += fmt::format("  {} to {} over steps {} to {}", Figure(low), Figure(high),
                        WithThousands(losses.front().step), WithThousands(losses.back().step));
  }
  if (!view.history.evaluation.empty()) text += "  eval " + view.history.evaluation;
  return Labelled(view, "loss", text);
}

std::vector<std::string> Curve(const ScreenView& view, size_t rows) {
  std::vector<double> steps, losses;
  for (const LossPoint& point : view.history.losses) {
    steps.push_back(point.step);
    losses.push_back(HasPlace(point) ? point.loss : NAN);
  }
  const ChartAxis x = ChartAxis::Over(steps, /*log=*/false, /*round=*/false, /*ticks=*/2);
  const ChartAxis y = ChartAxis::Over(losses, /*log=*/false, /*round=*/true, /*ticks=*/3);
  DotGrid grid(view.columns - kLabelColumns, rows);
  for (size_t i = 0; i < steps.size(); ++i) {
    if (!x.Shows(steps[i]) || !y.Shows(losses[i])) continue;
    const DotGrid::Point to = {x.Place(steps[i]), y.Place(losses[i])};
    grid.Set(to, 0);
    if (i > 0 && x.Shows(steps[i - 1]) && y.Shows(losses[i - 1]))
      grid.Draw({x.Place(steps[i - 1]), y.Place(losses[i - 1])}, to, 0);
  }
  std::vector<std::string> numbers(rows);
  for (const ChartTick& tick : y.ticks()) {
    const double row = std::clamp(1 - tick.at, 0.0, 1.0) * static_cast<double>(rows - 1);
    numbers[static_cast<size_t>(std::lround(row))] = tick.text;
  }
  std::vector<std::string> lines;
  for (size_t row = 0; row < rows; ++row) {
    const std::string number = fmt::format("{:>{}} ", numbers[row], kLabelColumns - 1);
    lines.push_back(
        Fitted(number, kLabelColumns, view.glyphs) +
        (view.glyphs == Glyphs::kAscii ? grid.AsciiRow(row) : grid.Row(row, /*color=*/false)));
  }
  return lines;
}

void AddCurve(const ScreenView& view, std::vector<ScreenSection>& sections) {
  if (std::ranges::count_if(view.history.losses, HasPlace) < 2) return;
  if (view.columns < kLabelColumns + 8) return;
  constexpr size_t kAny = 1000;
  sections.push_back({.priority = SectionPriority::kCurve,
                      .least = kLeastCurveRows,
                      .most = kAny,
                      .draw = [view](size_t rows) { return Curve(view, rows); }});
}

std::string TimeOf(const TimeShares& shares) {
  const std::pair<double, const char*> parts[] = {
      {shares.compute, "compute"},       {shares.wait, "wait for data"},
      {shares.evaluation, "evaluation"}, {shares.checkpoint, "checkpoint"},
      {shares.logging, "logging"},       {shares.other, "other"}};
  std::string text;
  for (const auto& [share, name] : parts) {
    if (share >= 0.005)
      text += fmt::format("{}{} {}", text.empty() ? "" : "  ", name, ShareText(share));
  }
  return text;
}

// The columns of the table of stages that fit.
class StageTable {
 public:
  explicit StageTable(const ScreenView& view) : view_(view) {
    columns_ = view.columns >= 72 ? 5 : view.columns >= 44 ? 3 : view.columns >= 24 ? 1 : 0;
    name_ = view.columns - std::min(view.columns, columns_ * kColumn);
    // A table whose columns are far from its names is hard to read.
    name_ = std::min<size_t>(name_, 40);
  }

  std::string Heading() const {
    return Row("stage", {"busy", "starved", "blocked", "elements/s", "bytes/s"});
  }
  std::string Line(const StageRate& stage) const {
    return Row(stage.name,
               {Times(stage.busy), Times(stage.starved), Times(stage.blocked),
                std::isfinite(stage.elements_per_s) ? WithThousands(stage.elements_per_s) : "?",
                SpeedText(stage.bytes_per_s)});
  }

 private:
  static constexpr size_t kColumn = 12;

  // Seconds a second, since stages run on many threads.
  static std::string Times(double seconds) {
    return std::isfinite(seconds) ? fmt::format("{:.2f}", seconds) : "?";
  }
  std::string Row(std::string_view name, const std::vector<std::string>& cells) const {
    std::string row = Fitted(name, name_, view_.glyphs);
    for (size_t i = 0; i < columns_; ++i)
      row += fmt::format("{:>{}}", Cut(cells[i], kColumn - 1, view_.glyphs), kColumn);
    return Cut(row, view_.columns, view_.glyphs);
  }

  const ScreenView& view_;
  size_t columns_ = 0, name_ = 0;
};

// If not all stages fit, the busiest ones, in the order of the pipeline.
std::vector<std::string> StageLines(const ScreenView& view, const std::vector<StageRate>& stages,
                                    size_t rows) {
  std::vector<size_t> shown(stages.size());
  std::iota(shown.begin(), shown.end(), size_t{0});
  const size_t most = rows - 1;
  if (shown.size() > most) {
    std::ranges::stable_sort(shown, std::ranges::greater(),
                             [&](size_t i) { return stages[i].busy; });
    shown.resize(most);
    std::ranges::sort(shown);
  }
  const StageTable table(view);
  std::vector<std::string> lines = {table.Heading()};
  for (const size_t i : shown) lines.push_back(table.Line(stages[i]));
  return lines;
}

}  // namespace

void AddRunSections(const ScreenView& view, std::vector<ScreenSection>& sections) {
  const TopHistory& history = view.history;
  if (!history.now().progress) {
    sections.push_back(LabelledSection(view, SectionPriority::kStep, "step",
                                       "nothing is published yet: it has not begun"));
    return;
  }
  const PublishedProgress& progress = *history.now().progress;
  sections.push_back(LabelledSection(view, SectionPriority::kStep, "step", StepOf(progress)));
  if (!progress.input) return;
  sections.push_back(SectionOf(SectionPriority::kRate, {RateLine(view, progress)}));
  sections.push_back(SectionOf(SectionPriority::kLoss, {LossLine(view, progress)}));
  AddCurve(view, sections);
  const std::optional<RunWindow> window = RunWindowOf(history);
  if (!window) return;
  sections.push_back(
      LabelledSection(view, SectionPriority::kTime, "time", TimeOf(TimeSharesOf(*window))));
  if (window->rates.empty()) return;
  sections.push_back({.priority = SectionPriority::kStages,
                      .least = 2,
                      .most = window->rates.size() + 1,
                      .draw = [view, rates = window->rates](size_t rows) {
                        return StageLines(view, rates, rows);
                      }});
}

}  // namespace stoker
