// Axes of charts: map values to places, and choose ticks.
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
  // Spans all values that can be shown, from a round number to a round number if `round`.
  //   ticks  their approximate number, at 1, 2 or 5 times a power of ten; on a logarithmic axis at
  //          powers of ten, or as on other axes if there are none between its ends
  static ChartAxis Over(std::span<const double> values, bool log, bool round, int ticks);

  // Returns false for values without a place: not finite, or not above 0 on a logarithmic axis.
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
