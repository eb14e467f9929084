#include "stoker/tools/chart/chart_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stoker {
namespace {

// Powers of ten whose exponents are all between these are written out: 0.1, 1, 10.
constexpr double kLeastPlain = -2, kMostPlain = 5;

// The smallest of 1, 2, 5, 10, 20, ... and their tenths that is not below `step`.
double RoundStep(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (step <= factor * power * (1 + 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::string PowerText(double exponent, bool plain) {
  return plain ? fmt::format("{:.6g}", std::pow(10, exponent))
               : fmt::format("1e{}", static_cast<int>(std::lround(exponent)));
}

}  // namespace

ChartAxis ChartAxis::Over(std::span<const double> values, bool log, bool round, int ticks) {
  ChartAxis axis(0, 1, log);
  bool any = false;
  for (const double value : values) {
    if (!axis.Shows(value)) continue;
    const double v = log ? std::log10(value) : value;
    axis.low_ = any ? std::min(axis.low_, v) : v;
    axis.high_ = any ? std::max(axis.high_, v) : v;
    any = true;
  }
  if (axis.high_ - axis.low_ <= 1e-12 * std::max(std::abs(axis.low_), std::abs(axis.high_))) {
    // A level line runs through the middle.
    const double room = axis.low_ == 0 || log ? 1 : std::abs(axis.low_) / 2;
    axis.low_ -= room;
    axis.high_ += room;
  }
  const double span = axis.high_ - axis.low_;
  const double step = RoundStep(log ? std::max(span / ticks, 1.0) : span / ticks);
  if (round) {
    axis.low_ = std::floor(axis.low_ / step + 1e-9) * step;
    axis.high_ = std::ceil(axis.high_ / step - 1e-9) * step;
  }
  if (log && axis.high_ - axis.low_ < 1) {
    axis.AddTicksBetweenPowers(ticks);
  } else {
    axis.AddTicks(step);
  }
  return axis;
}

void ChartAxis::AddTicks(double step) {
  const double first = std::ceil(low_ / step - 1e-9);
  const double last = std::floor(high_ / step + 1e-9);
  const bool plain = log_ && first * step >= kLeastPlain && last * step <= kMostPlain;
  for (double i = first; i <= last; ++i) {
    const double value = i * step + 0.0;  // never -0
    ticks_.push_back({.at = (value - low_) / (high_ - low_),
                      .text = log_ ? PowerText(value, plain) : fmt::format("{:.6g}", value)});
  }
}

void ChartAxis::AddTicksBetweenPowers(int ticks) {
  const double low = std::pow(10, low_), high = std::pow(10, high_);
  const double step = RoundStep((high - low) / ticks);
  for (double i = std::ceil(low / step - 1e-9); i <= std::floor(high / step + 1e-9); ++i) {
    ticks_.push_back({.at = Place(i * step), .text = fmt::format("{:.6g}", i * step)});
  }
}

bool ChartAxis::Shows(double value) const { return std::isfinite(value) && (!log_ || value > 0); }

double ChartAxis::Place(double value) const {
  return ((log_ ? std::log10(value) : value) - low_) / (high_ - low_);
}

ChartAxis AxisOfX(const Chart& chart, int ticks) {
  std::vector<double> values;
  for (const ChartPanel& panel : chart.panels) {
    for (const ChartSeries& series : panel.series) {
      values.insert(values.end(), series.x.begin(), series.x.end());
    }
  }
  return ChartAxis::Over(values, chart.log_x, /*round=*/false, ticks);
}

ChartAxis AxisOfY(const ChartPanel& panel, int ticks) {
  std::vector<double> values;
  for (const ChartSeries& series : panel.series) {
    values.insert(values.end(), series.y.begin(), series.y.end());
  }
  return ChartAxis::Over(values, panel.log, /*round=*/true, ticks);
}

}  // namespace stoker
