// Comparison: whether a change helps, from runs with and without it that took turns.
#pragma once

#include <span>

namespace stoker {

// Throughputs of one round: without the change and with it, measured one after the other.
struct Round {
  double without = 0, with = 0;
};

// A gain is how many times as fast the run is with the change.
struct Gain {
  double median = 1;
  double low = 1, high = 1;  // a confidence interval of about 95%
  int rounds = 0;            // that counted

  // Helps beyond noise: the whole interval lies above `least`.
  bool Helps(double least = 1.02) const { return rounds >= 3 && low > least; }
};

// The gain is the median of the rounds' ratios, because a machine that is busy for a while slows
// one round. The interval is Student's of the logarithms. Rounds with a throughput that is 0,
// negative or not finite do not count; with fewer than two the interval is [0, infinity].
Gain GainOfRounds(std::span<const Round> rounds);

}  // namespace stoker
