// Whether figures of two runs differ by more than noise. Pure functions, with intervals of 95 %.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "stoker/base/json.h"

namespace stoker {

enum class NoiseVerdict {
  kHigher,   // by more than noise
  kLower,    // likewise
  kNoise,    // the interval holds no difference
  kUnknown,  // too little is known of the noise
};
// "higher", "lower", "noise", "unknown"
std::string_view NoiseVerdictName(NoiseVerdict verdict);

struct NoisyChange {
  double change = 0;                // of rates after / before, of shares after - before
  std::optional<double> low, high;  // the interval; none if unknown
  NoiseVerdict verdict = NoiseVerdict::kUnknown;

  Json ToJson() const;
};

// The work of a window of time.
struct RateWindow {
  double amount = 0;   // samples
  double seconds = 0;  // greater than 0
};

// Compares rates: the sum of amounts over that of seconds. The noise is that of the windows of each
// run: Welch's interval for the mean seconds of a sample, weighted by amounts, with the number of
// independent windows lowered where neighbours are alike (their correlation r at lag 1: by (1 - r)
// / (1 + r)). It does not know what differs between the times at which the runs were made. Unknown
// below 4 windows in either.
NoisyChange CompareRates(std::span<const RateWindow> before, std::span<const RateWindow> after);

// Compares shares, 0 to 1, of so many samples that were right: the interval of Agresti and Caffo
// ("Simple and effective confidence intervals for proportions", The American Statistician 2000) for
// two independent samples. Where both models were measured on the same samples, as two runs of one
// recipe are, the noise is smaller: a difference that this finds is one. Unknown without samples.
NoisyChange CompareShares(double before, int64_t before_samples, double after,
                          int64_t after_samples);

}  // namespace stoker
