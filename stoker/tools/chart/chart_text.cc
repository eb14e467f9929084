#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stoker/base/printable.h"
#include "stoker/tools/chart/chart.h"
#include "stoker/tools/chart/chart_axis.h"
#include "stoker/tools/chart/dot_grid.h"

namespace stoker {
namespace {

constexpr size_t kRows = 10;     // of a panel
constexpr size_t kNumbers = 10;  // columns for the numbers of the y axis
constexpr size_t kLeastColumns = 40;
// What stands for a colour where there is none.
char LetterOf(size_t color, bool capital) {
  return static_cast<char>((capital ? 'A' : 'a') + color % 26);
}

void DrawSeries(const ChartSeries& series, size_t color, const ChartAxis& x, const ChartAxis& y,
                DotGrid& grid) {
  for (size_t i = 0; i < series.x.size(); ++i) {
    if (!x.Shows(series.x[i]) || !y.Shows(series.y[i])) continue;
    const DotGrid::Point to = {x.Place(series.x[i]), y.Place(series.y[i])};
    grid.Set(to, color);
    if (i == 0 || !x.Shows(series.x[i - 1]) || !y.Shows(series.y[i - 1])) continue;
    grid.Draw({x.Place(series.x[i - 1]), y.Place(series.y[i - 1])}, to, color);
  }
}

// Writes a line's letter where it ends, or as far before that as others have left room.
void WriteLetter(const ChartSeries& series, char letter, const ChartAxis& x, const ChartAxis& y,
                 DotGrid& grid) {
  for (size_t i = series.x.size(); i-- > 0;) {
    if (!x.Shows(series.x[i]) || !y.Shows(series.y[i])) continue;
    if (grid.Write({x.Place(series.x[i]), y.Place(series.y[i])}, letter)) return;
  }
}

// The number beside a row, if there is one.
std::string NumberAt(const ChartAxis& y, size_t row) {
  for (const ChartTick& tick : y.ticks()) {
    if (static_cast<size_t>(std::lround((1 - tick.at) * (kRows - 1))) == row) return tick.text;
  }
  return {};
}

std::string PanelText(const ChartPanel& panel, const ChartAxis& x, size_t columns, bool letters,
                      bool color) {
  const ChartAxis y = AxisOfY(panel, /*ticks=*/4);
  std::string text = fmt::format("{}\n", Printable(panel.label));
  DotGrid grid(columns, kRows);
  for (size_t i = 0; i < panel.series.size(); ++i) {
    const ChartSeries& series = panel.series[i];
    if (!series.faint) DrawSeries(series, series.color.value_or(i), x, y, grid);
  }
  for (size_t i = 0; letters && i < panel.series.size(); ++i) {
    const ChartSeries& series = panel.series[i];
    const char letter = LetterOf(series.color.value_or(i), series.marks);
    if (!series.faint) WriteLetter(series, letter, x, y, grid);
  }
  for (size_t row = 0; row < kRows; ++row) {
    text += fmt::format("{:>{}} {}\n", NumberAt(y, row), kNumbers, grid.Row(row, color));
  }
  return text;
}

std::string AxisText(const ChartAxis& x, size_t columns) {
  std::string line(columns, ' ');
  size_t free = 0;
  for (const ChartTick& tick : x.ticks()) {
    const double middle = tick.at * static_cast<double>(columns - 1);
    const auto half = static_cast<double>(tick.text.size()) / 2;
    const auto begin = static_cast<size_t>(std::max(0.0, std::round(middle - half)));
    if (begin < free || begin + tick.text.size() > columns) continue;
    line.replace(begin, tick.text.size(), tick.text);
    free = begin + tick.text.size() + 1;
  }
  return std::string(kNumbers + 1, ' ') + line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

}  // namespace

std::string ChartToText(const Chart& chart, size_t columns, bool color) {
  const size_t wide = std::max(columns, kLeastColumns) - kNumbers - 1;
  const ChartAxis x = AxisOfX(chart, /*ticks=*/6);
  std::string text = chart.title.empty() ? "" : Printable(chart.title) + "\n";
  for (const ChartPanel& panel : chart.panels) {
    text += PanelText(panel, x, wide, !chart.legend.empty(), color);
  }
  text += AxisText(x, wide);
  text += std::string(kNumbers + 1 + (wide - std::min(wide, chart.x_label.size())) / 2, ' ') +
          chart.x_label + "\n";
  for (const ChartLegend& entry : chart.legend) {
    const std::string letter(1, LetterOf(entry.color, /*capital=*/false));
    text += fmt::format(
        "{:>{}} {}\n", "", kNumbers - 1,
        (color ? InTerminalColor(letter, entry.color) : letter) + "  " + Printable(entry.text));
  }
  return text;
}

}  // namespace stoker
