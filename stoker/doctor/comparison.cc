#include "stoker/doctor/comparison.h"

#include <cmath>
#include <limits>
#include <vector>

#include "stoker/base/statistics.h"

namespace stoker {
namespace {

// Student's t for 95% and 1, 2, ... degrees of freedom; beyond them it is close to the last.
constexpr double kStudent[] = {12.71, 4.303, 3.182, 2.776, 2.571,
                               2.447, 2.365, 2.306, 2.262, 2.228};

bool IsRate(double value) { return std::isfinite(value) && value > 0; }

}  // namespace

Gain GainOfRounds(std::span<const Round> rounds) {
  std::vector<double> logs;
  RunningStats stats;
  for (const Round& round : rounds) {
    if (!IsRate(round.without) || !IsRate(round.with)) continue;
    logs.push_back(std::log(round.with / round.without));
    stats.Add(logs.back());
  }
  Gain gain{.low = 0,
            .high = std::numeric_limits<double>::infinity(),
            .rounds = static_cast<int>(logs.size())};
  if (logs.empty()) return gain;
  gain.median = std::exp(Median(logs));
  if (logs.size() < 2) return gain;
  const double t = kStudent[std::min(logs.size() - 2, std::size(kStudent) - 1)];
  const double width = t * stats.standard_deviation() / std::sqrt(static_cast<double>(logs.size()));
  gain.low = std::exp(stats.mean() - width);
  gain.high = std::exp(stats.mean() + width);
  return gain;
}

}  // namespace stoker
