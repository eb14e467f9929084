#include "stoker/tools/chart/dot_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stoker {
namespace {

// ECMA-48 colours of the foreground: blue, yellow, green, magenta, cyan, red.
constexpr int kTerminalColors[] = {34, 33, 32, 35, 36, 31};

constexpr uint8_t kDotBits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
constexpr uint8_t kUpperDots = 0x01 | 0x08 | 0x02 | 0x10;

// What is no number is at the begin.
double WithinGrid(double place) { return std::isnan(place) ? 0 : std::clamp(place, 0.0, 1.0); }

size_t DotAt(double place, size_t dots) {
  const double at = WithinGrid(place) * static_cast<double>(dots - 1);
  return static_cast<size_t>(std::lround(at));
}

// U+2800 + dots in UTF-8.
std::string Braille(uint8_t dots) {
  return {'\xe2', static_cast<char>(0xa0 | (dots >> 6)), static_cast<char>(0x80 | (dots & 0x3f))};
}

char AsciiDots(uint8_t dots) {
  const bool upper = (dots & kUpperDots) != 0, lower = (dots & ~kUpperDots) != 0;
  if (upper) return lower ? ':' : '\'';
  return lower ? '.' : ' ';
}

}  // namespace

std::string InTerminalColor(std::string_view text, size_t color) {
  return fmt::format("\x1b[{}m{}\x1b[0m", kTerminalColors[color % std::size(kTerminalColors)],
                     text);
}

DotGrid::Cell& DotGrid::CellAt(Point point) {
  const size_t column = DotAt(point.x, columns_ * 2),
               row = rows_ * 4 - 1 - DotAt(point.y, rows_ * 4);
  return cells_[row / 4 * columns_ + column / 2];
}

void DotGrid::Set(Point point, size_t color) {
  const size_t column = DotAt(point.x, columns_ * 2),
               row = rows_ * 4 - 1 - DotAt(point.y, rows_ * 4);
  Cell& cell = CellAt(point);
  cell.dots |= kDotBits[row % 4][column % 2];
  cell.color = static_cast<uint8_t>(color);
}

void DotGrid::Draw(Point from, Point to, size_t color) {
  from = {.x = WithinGrid(from.x), .y = WithinGrid(from.y)};
  to = {.x = WithinGrid(to.x), .y = WithinGrid(to.y)};
  // Enough dots that none between the two is left out.
  const double length = std::max(std::abs(to.x - from.x) * static_cast<double>(columns_) * 2,
                                 std::abs(to.y - from.y) * static_cast<double>(rows_) * 4);
  const int dots = static_cast<int>(std::ceil(length));
  for (int d = 1; d < dots; ++d) {
    const double p = static_cast<double>(d) / dots;
    Set({from.x + (to.x - from.x) * p, from.y + (to.y - from.y) * p}, color);
  }
}

bool DotGrid::Write(Point point, char letter) {
  Cell& cell = CellAt(point);
  if (cell.letter != 0) return false;
  cell.letter = letter;
  return true;
}

std::string DotGrid::Row(size_t row, bool color) const {
  std::string text;
  for (size_t column = 0; column < columns_; ++column) {
    const Cell& cell = cells_[row * columns_ + column];
    const std::string shown = cell.letter != 0 ? std::string(1, cell.letter) : Braille(cell.dots);
    text += color && cell.color != kNoColor ? InTerminalColor(shown, cell.color) : shown;
  }
  return text;
}

std::string DotGrid::AsciiRow(size_t row) const {
  std::string text;
  for (size_t column = 0; column < columns_; ++column) {
    const Cell& cell = cells_[row * columns_ + column];
    text += cell.letter != 0 ? cell.letter : AsciiDots(cell.dots);
  }
  return text;
}

}  // namespace stoker
