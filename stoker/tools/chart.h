// Charts: lines over a shared x axis, in panels one above the other; as SVG, as PNG and in the
// terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/status.h"

namespace stoker {

// A line through (x[i], y[i]), x rising. Points that are not finite, or not above 0 on an axis of
// powers, leave a gap.
struct ChartSeries {
  std::string name;  // for the legend; empty: none
  std::vector<double> x;
  std::vector<double> y;  // as many
};

struct ChartPanel {
  std::string label;  // of the y axis
  std::vector<ChartSeries> series;
  bool log = false;  // y axis in powers of ten
};

struct Chart {
  std::string title;
  std::string x_label;
  std::vector<ChartPanel> panels;
  bool log_x = false;
};

// A whole SVG 1.1 document, 960 units wide; text stays text.
std::string ChartToSvg(const Chart& chart);

// The same picture as a PNG of as many pixels. Letters without a glyph (chart_font.h) become boxes.
// Errors: those of EncodePng.
Result<std::string> ChartToPng(const Chart& chart);

// The same as text: lines of braille dots, `columns` wide at most (at least 40 are used), about a
// dozen rows a panel.
std::string ChartToText(const Chart& chart, size_t columns);

}  // namespace stoker
