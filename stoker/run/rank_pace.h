// RankPace: which of the ranks that train together holds the others up, and how much.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stoker {

// What a rank did with the time of some steps.
struct RankTime {
  double seconds = 0;  // of the steps
  double joined = 0;   // the part of these after its own work was done: waiting for others, and
                       // what was left to exchange
};

struct RankPace {
  double waited = 0;     // share of the steps spent waiting for slower ranks, mean over all
  double exchanged = 0;  // share of the steps that even the slowest rank spent on the exchange
  int64_t slowest = 0, fastest = 0;  // ranks, by the time of their own work

  // "the ranks wait 12% for rank 3": only if `waited` is kTellWaitsFrom or more, else empty.
  std::string Brief() const;
  // For the end of a run.
  std::string Sentence() const;
};

inline constexpr double kTellWaitsFrom = 0.05;

// By rank. Nothing where no time has passed, or there is one rank.
std::optional<RankPace> PaceOf(const std::vector<RankTime>& ranks);

}  // namespace stoker
