#include "stoker/doctor/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "stoker/base/statistics.h"

namespace stoker {
namespace {

// Student's t for two rounds; of many more than are ever made it counts as that for so many.
constexpr double kStudentOfTwo = 12.71;
constexpr size_t kMostDegrees = 10;

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
  const size_t degrees = std::min(logs.size() - 1, kMostDegrees);
  const double t = degrees == 1 ? kStudentOfTwo : StudentQuantile(static_cast<double>(degrees));
  const double width = t * stats.standard_deviation() / std::sqrt(static_cast<double>(logs.size()));
  gain.low = std::exp(stats.mean() - width);
  gain.high = std::exp(stats.mean() + width);
  return gain;
}

}  // namespace stoker
