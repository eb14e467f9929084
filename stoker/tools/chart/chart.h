// Charts: lines over a shared x axis, in panels one above the other; as SVG, as PNG and in the
// terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/status.h"

namespace stoker {

// A line through (x[i], y[i]), with ascending x. Points that are not finite, or not above 0 on a
// logarithmic axis, leave a gap.
struct ChartSeries {
  std::string name;  // beside the panel's label; empty: none
  std::vector<double> x;
  std::vector<double> y;             // as many
  std::optional<size_t> color = {};  // number of its colour; else its place in the panel
  bool marks = false;                // a dot at every point
  bool faint = false;                // pale, and omitted in text charts
};

struct ChartPanel {
  std::string label;  // of the y axis
  std::vector<ChartSeries> series;
  bool log = false;  // y axis in powers of ten
};

// The meaning of a colour in all panels. A text chart writes a letter, a, b, c and so on, at the
// ends of lines of colour 0, 1, 2, in upper case if they have marks.
struct ChartLegend {
  std::string text;
  size_t color = 0;
};

struct Chart {
  std::string title;
  std::string x_label;
  std::vector<ChartPanel> panels;
  bool log_x = false;
  std::vector<ChartLegend> legend = {};  // below the last panel, one a line
};

// A whole SVG 1.1 document, 960 units wide; text stays text.
std::string ChartToSvg(const Chart& chart);

// The same picture as a PNG of as many pixels. Letters without a glyph (chart_font.h) become boxes.
// Errors: those of EncodePng.
Result<std::string> ChartToPng(const Chart& chart);

// The same as text: lines of braille dots, `columns` wide at most (at least 40 are used), about a
// dozen rows a panel.
//   color  with the escape sequences of ECMA-48 for it
std::string ChartToText(const Chart& chart, size_t columns, bool color = false);

}  // namespace stoker
