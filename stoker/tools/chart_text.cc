#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stoker/tools/chart.h"
#include "stoker/tools/chart_axis.h"

namespace stoker {
namespace {

constexpr size_t kRows = 10;     // of a panel
constexpr size_t kNumbers = 10;  // columns for the numbers of the y axis
constexpr size_t kLeastColumns = 40;

// Dots two by four to a character: Unicode's braille patterns, U+2800 and up.
class DotGrid {
 public:
  DotGrid(size_t columns, size_t rows)
      : columns_(columns), rows_(rows), cells_(columns * rows, 0) {}

  // x, y: 0 to 1, from the lower left.
  void Set(double x, double y) {
    const auto dot = [](double place, size_t dots) {
      const double at = std::clamp(place, 0.0, 1.0) * static_cast<double>(dots - 1);
      return static_cast<size_t>(std::lround(at));
    };
    const size_t column = dot(x, columns_ * 2), row = rows_ * 4 - 1 - dot(y, rows_ * 4);
    constexpr uint8_t kBits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    cells_[row / 4 * columns_ + column / 2] |= kBits[row % 4][column % 2];
  }

  std::string Row(size_t row) const {
    std::string text;
    for (size_t column = 0; column < columns_; ++column) {
      const uint8_t bits = cells_[row * columns_ + column];
      // U+2800 + bits in UTF-8.
      text +=
          {'\xe2', static_cast<char>(0xa0 | (bits >> 6)), static_cast<char>(0x80 | (bits & 0x3f))};
    }
    return text;
  }

 private:
  const size_t columns_;
  const size_t rows_;
  std::vector<uint8_t> cells_;
};

void DrawSeries(const ChartSeries& series, const ChartAxis& x, const ChartAxis& y, size_t columns,
                DotGrid& grid) {
  for (size_t i = 0; i < series.x.size(); ++i) {
    if (!x.Shows(series.x[i]) || !y.Shows(series.y[i])) continue;
    const double to_x = x.Place(series.x[i]), to_y = y.Place(series.y[i]);
    grid.Set(to_x, to_y);
    if (i == 0 || !x.Shows(series.x[i - 1]) || !y.Shows(series.y[i - 1])) continue;
    const double from_x = x.Place(series.x[i - 1]), from_y = y.Place(series.y[i - 1]);
    // So many dots that none between the two is left out.
    const double length = std::max(std::abs(to_x - from_x) * static_cast<double>(columns) * 2,
                                   std::abs(to_y - from_y) * static_cast<double>(kRows) * 4);
    const int dots = static_cast<int>(std::ceil(length));
    for (int d = 1; d < dots; ++d) {
      const double p = static_cast<double>(d) / dots;
      grid.Set(from_x + (to_x - from_x) * p, from_y + (to_y - from_y) * p);
    }
  }
}

// The number that stands beside a row, where one does.
std::string NumberAt(const ChartAxis& y, size_t row) {
  for (const ChartTick& tick : y.ticks()) {
    if (static_cast<size_t>(std::lround((1 - tick.at) * (kRows - 1))) == row) return tick.text;
  }
  return {};
}

std::string PanelText(const ChartPanel& panel, const ChartAxis& x, size_t columns) {
  const ChartAxis y = AxisOfY(panel, /*ticks=*/4);
  std::string text = fmt::format("{}\n", panel.label);
  DotGrid grid(columns, kRows);
  for (const ChartSeries& series : panel.series) DrawSeries(series, x, y, columns, grid);
  for (size_t row = 0; row < kRows; ++row) {
    text += fmt::format("{:>{}} {}\n", NumberAt(y, row), kNumbers, grid.Row(row));
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

std::string ChartToText(const Chart& chart, size_t columns) {
  const size_t wide = std::max(columns, kLeastColumns) - kNumbers - 1;
  const ChartAxis x = AxisOfX(chart, /*ticks=*/6);
  std::string text = chart.title.empty() ? "" : chart.title + "\n";
  for (const ChartPanel& panel : chart.panels) text += PanelText(panel, x, wide);
  text += AxisText(x, wide);
  return text + std::string(kNumbers + 1 + (wide - std::min(wide, chart.x_label.size())) / 2, ' ') +
         chart.x_label + "\n";
}

}  // namespace stoker
