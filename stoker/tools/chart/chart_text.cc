#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stoker/base/printable.h"
#include "stoker/tools/chart/chart.h"
#include "stoker/tools/chart/chart_axis.h"

namespace stoker {
namespace {

constexpr size_t kRows = 10;     // of a panel
constexpr size_t kNumbers = 10;  // columns for the numbers of the y axis
constexpr size_t kLeastColumns = 40;
// ECMA-48 colours of the foreground: blue, yellow, green, magenta, cyan, red.
constexpr int kTerminalColors[] = {34, 33, 32, 35, 36, 31};
constexpr size_t kNoColor = 255;

std::string InColor(std::string_view text, size_t color) {
  return fmt::format("\x1b[{}m{}\x1b[0m", kTerminalColors[color % std::size(kTerminalColors)],
                     text);
}

// What stands for a colour where there is none.
char LetterOf(size_t color, bool capital) {
  return static_cast<char>((capital ? 'A' : 'a') + color % 26);
}

// Dots two by four to a character: Unicode's braille patterns, U+2800 and up.
class DotGrid {
 public:
  DotGrid(size_t columns, size_t rows) : columns_(columns), rows_(rows), cells_(columns * rows) {}

  // x, y: 0 to 1, from the lower left. Of several colours in a character the last counts.
  void Set(double x, double y, size_t color) {
    const size_t column = Dot(x, columns_ * 2), row = rows_ * 4 - 1 - Dot(y, rows_ * 4);
    constexpr uint8_t kBits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    Cell& cell = cells_[row / 4 * columns_ + column / 2];
    cell.dots |= kBits[row % 4][column % 2];
    cell.color = static_cast<uint8_t>(color);
  }

  // A letter in the place of the dots; false if there is one already.
  bool Write(double x, double y, char letter) {
    Cell& cell =
        cells_[(rows_ * 4 - 1 - Dot(y, rows_ * 4)) / 4 * columns_ + Dot(x, columns_ * 2) / 2];
    if (cell.letter != 0) return false;
    cell.letter = letter;
    return true;
  }

  std::string Row(size_t row, bool color) const {
    std::string text;
    for (size_t column = 0; column < columns_; ++column) {
      const Cell& cell = cells_[row * columns_ + column];
      const std::string shown = Shown(cell);
      text += color && cell.color != kNoColor ? InColor(shown, cell.color) : shown;
    }
    return text;
  }

 private:
  struct Cell {
    uint8_t dots = 0;
    uint8_t color = kNoColor;
    char letter = 0;
  };

  static size_t Dot(double place, size_t dots) {
    const double at = std::clamp(place, 0.0, 1.0) * static_cast<double>(dots - 1);
    return static_cast<size_t>(std::lround(at));
  }

  static std::string Shown(const Cell& cell) {
    if (cell.letter != 0) return {cell.letter};
    // U+2800 + dots in UTF-8.
    return {'\xe2', static_cast<char>(0xa0 | (cell.dots >> 6)),
            static_cast<char>(0x80 | (cell.dots & 0x3f))};
  }

  const size_t columns_;
  const size_t rows_;
  std::vector<Cell> cells_;
};

void DrawSeries(const ChartSeries& series, size_t color, const ChartAxis& x, const ChartAxis& y,
                size_t columns, DotGrid& grid) {
  for (size_t i = 0; i < series.x.size(); ++i) {
    if (!x.Shows(series.x[i]) || !y.Shows(series.y[i])) continue;
    const double to_x = x.Place(series.x[i]), to_y = y.Place(series.y[i]);
    grid.Set(to_x, to_y, color);
    if (i == 0 || !x.Shows(series.x[i - 1]) || !y.Shows(series.y[i - 1])) continue;
    const double from_x = x.Place(series.x[i - 1]), from_y = y.Place(series.y[i - 1]);
    // Enough dots that none between the two is left out.
    const double length = std::max(std::abs(to_x - from_x) * static_cast<double>(columns) * 2,
                                   std::abs(to_y - from_y) * static_cast<double>(kRows) * 4);
    const int dots = static_cast<int>(std::ceil(length));
    for (int d = 1; d < dots; ++d) {
      const double p = static_cast<double>(d) / dots;
      grid.Set(from_x + (to_x - from_x) * p, from_y + (to_y - from_y) * p, color);
    }
  }
}

// Writes a line's letter where it ends, or as far before that as others have left room.
void WriteLetter(const ChartSeries& series, char letter, const ChartAxis& x, const ChartAxis& y,
                 DotGrid& grid) {
  for (size_t i = series.x.size(); i-- > 0;) {
    if (!x.Shows(series.x[i]) || !y.Shows(series.y[i])) continue;
    if (grid.Write(x.Place(series.x[i]), y.Place(series.y[i]), letter)) return;
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
    if (!series.faint) DrawSeries(series, series.color.value_or(i), x, y, columns, grid);
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
    text +=
        fmt::format("{:>{}} {}\n", "", kNumbers - 1,
                    (color ? InColor(letter, entry.color) : letter) + "  " + Printable(entry.text));
  }
  return text;
}

}  // namespace stoker
