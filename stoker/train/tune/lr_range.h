// The learning-rate range test (Smith, "Cyclical Learning Rates for Training Neural Networks",
// arXiv 1506.01186) without the model: which rates are tried, when it ends, and the suggestions
// from its curve. The suggestions are those of fastai's lr_find.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/run/smoothing.h"

namespace stoker {

struct LrRangeOptions {
  double low = 1e-7;    // first rate, above 0
  double high = 10;     // the upper end of rates, above `low`
  int64_t steps = 100;  // optimizer steps, at least kFewestLrSteps
  bool linear = false;  // increase rates by the same amount instead of the same factor
  double smooth = 0.9;  // weight of the past in the mean of the losses, in [0, 1)
  double diverged = 4;  // ends when the mean exceeds its lowest value by this factor; above 1
};

inline constexpr int64_t kFewestLrSteps = 20;

// Returns kInvalidArgument if a field is outside its range.
Status CheckLrRange(const LrRangeOptions& options);

// Returns the rate of step i, from 0: low * (high / low)^(i / steps), or low + (high - low) * i /
// steps.
double LrOfStep(const LrRangeOptions& options, int64_t i);

// Losses over rates; all vectors have the same length.
struct LrCurve {
  std::vector<double> lr;
  std::vector<double> raw;   // as measured
  std::vector<double> loss;  // the running mean
};

// Builds the curve step by step. One thread at a time.
class LrRangeTest {
 public:
  explicit LrRangeTest(const LrRangeOptions& options) : options_(options), mean_(options.smooth) {}

  // Adds the loss of a step at rate `lr`. Returns false at the end of the test: the loss is not
  // finite (and not added), or the mean has diverged.
  bool Add(double lr, double loss);

  bool diverged() const { return diverged_; }
  const LrCurve& curve() const { return curve_; }

 private:
  LrRangeOptions options_;
  SmoothedValue mean_;
  LrCurve curve_;
  double lowest_ = 0;
  bool diverged_ = false;
};

struct LrSuggestions {
  double valley = 0;         // a third or more into the longest stretch of falling loss
  double steepest = 0;       // where it falls fastest over the logarithm of the rate
  double minimum_tenth = 0;  // a tenth of the rate with the lowest loss
};

// Returns suggestions from the curve without its first tenth and its last five points.
//   steepest  argmin over i of (loss[i+1] - loss[i]) / (ln lr[i+1] - ln lr[i])
//   valley    of the longest subsequence of falling losses, n long, which ends at point e (the
//   first
//             such end): the point e - n + floor(n / 3) + floor(n / 6)
// Nothing if fewer than ten points are left, or the loss never falls. Cost: quadratic in the
// points.
std::optional<LrSuggestions> SuggestLr(const LrCurve& curve);

}  // namespace stoker
