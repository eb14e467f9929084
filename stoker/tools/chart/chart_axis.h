// Axes of charts: from values to places, and the places that bear numbers.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "stoker/tools/chart/chart.h"

namespace stoker {

struct ChartTick {
  double at = 0;  // 0 to 1 along the axis
  std::string text;
};

class ChartAxis {
 public:
  // Spans all values that can be shown, from a round number to a round number where it bears y.
  //   ticks  about so many, at 1, 2 or 5 times a power of ten; on an axis of powers at these, or
  //          where there is not a whole one between its ends, at numbers like on any other
  static ChartAxis Over(std::span<const double> values, bool log, bool round, int ticks);

  // False for what has no place: not finite, or not above 0 on an axis of powers.
  bool Shows(double value) const;
  // 0 at the low end, 1 at the high one.
  double Place(double value) const;
  const std::vector<ChartTick>& ticks() const { return ticks_; }

 private:
  ChartAxis(double low, double high, bool log) : low_(low), high_(high), log_(log) {}
  void AddTicks(double step);
  void AddTicksBetweenPowers(int ticks);

  double low_;  // of the value, or of its decimal logarithm
  double high_;
  bool log_;
  std::vector<ChartTick> ticks_;
};

// The axes of a chart's x and of a panel's y.
ChartAxis AxisOfX(const Chart& chart, int ticks);
ChartAxis AxisOfY(const ChartPanel& panel, int ticks);

}  // namespace stoker
