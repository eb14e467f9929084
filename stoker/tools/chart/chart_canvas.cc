#include "stoker/tools/chart/chart_canvas.h"

#include <array>

#include "stoker/tools/chart/chart_axis.h"

namespace stoker {
namespace {

constexpr int64_t kWidth = 960;
constexpr double kLeft = 110, kRight = 940;  // of a panel's frame
constexpr double kTop = 70;                  // of the first panel's frame
constexpr double kPanel = 240;               // height of a frame
constexpr double kGap = 50;                  // between frames: a panel's label stands there
constexpr double kFoot = 70;                 // below the last frame
constexpr double kLegend = 22;               // height of a line of the legend, below that

constexpr ChartColor kInk{40, 40, 40}, kGrid{222, 222, 222};
// Okabe and Ito's colours, which colour-blind people tell apart.
constexpr std::array<ChartColor, 6> kColors = {
    {{0, 114, 178}, {213, 94, 0}, {0, 158, 115}, {204, 121, 167}, {230, 159, 0}, {86, 180, 233}}};

ChartColor ColorOf(size_t number, bool faint) {
  const ChartColor color = kColors[number % kColors.size()];
  if (!faint) return color;
  const auto pale = [](uint8_t ink) { return static_cast<uint8_t>(255 - (255 - ink) / 4); };
  return {pale(color.red), pale(color.green), pale(color.blue)};
}

struct Frame {
  double top = 0;
  double X(double place) const { return kLeft + place * (kRight - kLeft); }
  double Y(double place) const { return top + (1 - place) * kPanel; }
};

void DrawGrid(const Frame& frame, const ChartAxis& x, const ChartAxis& y, ChartCanvas& canvas) {
  for (const ChartTick& tick : y.ticks()) {
    const double at = frame.Y(tick.at);
    canvas.Line({{kLeft, at}, {kRight, at}}, 1, kGrid);
    canvas.Text({kLeft - 8, at + 5}, ChartAnchor::kEnd, tick.text, kInk);
  }
  for (const ChartTick& tick : x.ticks()) {
    const double at = frame.X(tick.at);
    canvas.Line({{at, frame.Y(0)}, {at, frame.Y(1)}}, 1, kGrid);
  }
  canvas.Line({{kLeft, frame.Y(1)}, {kLeft, frame.Y(0)}, {kRight, frame.Y(0)}}, 1, kInk);
}

void DrawSeries(const Frame& frame, const ChartAxis& x, const ChartAxis& y,
                const ChartSeries& series, ChartColor color, ChartCanvas& canvas) {
  std::vector<ChartPoint> run;
  const auto finish = [&] {
    if (run.size() == 1) run.push_back({run[0].x + 1, run[0].y});  // a point alone is a dot
    if (run.size() > 1) canvas.Line(run, 2, color);
    run.clear();
  };
  for (size_t i = 0; i < series.x.size(); ++i) {
    if (x.Shows(series.x[i]) && y.Shows(series.y[i])) {
      const ChartPoint at{frame.X(x.Place(series.x[i])), frame.Y(y.Place(series.y[i]))};
      if (series.marks) canvas.Line({{at.x - 3, at.y}, {at.x + 3, at.y}}, 6, color);
      run.push_back(at);
    } else {
      finish();
    }
  }
  finish();
}

void DrawPanel(const ChartPanel& panel, const Frame& frame, const ChartAxis& x,
               ChartCanvas& canvas) {
  const ChartAxis y = AxisOfY(panel, /*ticks=*/5);
  DrawGrid(frame, x, y, canvas);
  canvas.Text({kLeft, frame.top - 10}, ChartAnchor::kStart, panel.label, kInk);
  double legend = kRight;
  for (size_t i = panel.series.size(); i-- > 0;) {
    const ChartSeries& series = panel.series[i];
    const ChartColor color = ColorOf(series.color.value_or(i), series.faint);
    DrawSeries(frame, x, y, series, color, canvas);
    if (series.name.empty()) continue;
    canvas.Text({legend, frame.top - 10}, ChartAnchor::kEnd, series.name, color);
    legend -= 12.0 * static_cast<double>(series.name.size() + 2);
  }
}

double TopOf(size_t panel) { return kTop + static_cast<double>(panel) * (kPanel + kGap); }

}  // namespace

ChartSize SizeOf(const Chart& chart) {
  return {.width = kWidth,
          .height = static_cast<int64_t>(TopOf(chart.panels.size()) - kGap + kFoot +
                                         kLegend * static_cast<double>(chart.legend.size()))};
}

void DrawChart(const Chart& chart, ChartCanvas& canvas) {
  const ChartAxis x = AxisOfX(chart, /*ticks=*/8);
  canvas.Text({kWidth / 2.0, 28}, ChartAnchor::kMiddle, chart.title, kInk);
  for (size_t i = 0; i < chart.panels.size(); ++i) {
    DrawPanel(chart.panels[i], {TopOf(i)}, x, canvas);
  }
  const Frame last{TopOf(chart.panels.size() - 1)};
  for (const ChartTick& tick : x.ticks()) {
    canvas.Text({last.X(tick.at), last.Y(0) + 22}, ChartAnchor::kMiddle, tick.text, kInk);
  }
  canvas.Text({(kLeft + kRight) / 2, last.Y(0) + 48}, ChartAnchor::kMiddle, chart.x_label, kInk);
  double line = last.Y(0) + 48;
  for (const ChartLegend& entry : chart.legend) {
    line += kLegend;
    const ChartColor color = ColorOf(entry.color, /*faint=*/false);
    canvas.Line({{kLeft, line - 5}, {kLeft + 30, line - 5}}, 4, color);
    canvas.Text({kLeft + 40, line}, ChartAnchor::kStart, entry.text, kInk);
  }
}

}  // namespace stoker
