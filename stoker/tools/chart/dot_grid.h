// DotGrid: lines of dots in a grid of characters, for curves in a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// Returns `text` in colour number `color` of charts, by ECMA-48.
std::string InTerminalColor(std::string_view text, size_t color);

// Two by four dots to a character.
class DotGrid {
 public:
  // 0 to 1, from the lower left.
  struct Point {
    double x = 0, y = 0;
  };

  // REQUIRES: both at least 1.
  DotGrid(size_t columns, size_t rows) : columns_(columns), rows_(rows), cells_(columns * rows) {}

  // Of several colours in a character the last counts.
  void Set(Point point, size_t color);

  // Draws the line between two points that are set, without them.
  void Draw(Point from, Point to, size_t color);

  // Puts a letter in the place of the dots; returns false if there is one already.
  bool Write(Point point, char letter);

  // Returns a row, the uppermost first, in Unicode's braille patterns.
  std::string Row(size_t row, bool color) const;
  // The same in ASCII: ' for dots in the upper half of a character, . in the lower, : in both.
  std::string AsciiRow(size_t row) const;

 private:
  static constexpr uint8_t kNoColor = 255;
  struct Cell {
    uint8_t dots = 0;
    uint8_t color = kNoColor;
    char letter = 0;
  };
  Cell& CellAt(Point point);

  const size_t columns_;
  const size_t rows_;
  std::vector<Cell> cells_;
};

}  // namespace stoker
