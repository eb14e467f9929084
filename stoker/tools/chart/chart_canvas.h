// The surface of a chart: SVG or pixels. DrawChart alone decides the layout.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "stoker/tools/chart/chart.h"

namespace stoker {

struct ChartColor {
  uint8_t red = 0, green = 0, blue = 0;
};

struct ChartPoint {
  double x = 0, y = 0;  // to the right and down, in units of one pixel
};

// The place of a text relative to its point: it begins, has its middle, or ends there.
enum class ChartAnchor { kStart, kMiddle, kEnd };

class ChartCanvas {
 public:
  virtual ~ChartCanvas() = default;
  // At least two points.
  virtual void Line(const std::vector<ChartPoint>& points, double width, ChartColor color) = 0;
  // `at` is on the baseline; letters are about 14 high.
  virtual void Text(ChartPoint at, ChartAnchor anchor, std::string_view text, ChartColor color) = 0;
};

struct ChartSize {
  int64_t width = 0;
  int64_t height = 0;
};

ChartSize SizeOf(const Chart& chart);
void DrawChart(const Chart& chart, ChartCanvas& canvas);

}  // namespace stoker
