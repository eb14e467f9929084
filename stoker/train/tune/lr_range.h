// The learning-rate range test (Smith, "Cyclical Learning Rates for Training Neural Networks",
// arXiv 1506.01186) as far as it needs no model: which rates are tried, when it ends, and what its
// curve suggests. The suggestions are those of fastai's lr_find.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/run/smoothing.h"

namespace stoker {

struct LrRangeOptions {
  double low = 1e-7;    // first rate, above 0
  double high = 10;     // what the rates go up to, above `low`
  int64_t steps = 100;  // optimizer steps, at least kFewestLrSteps
  bool linear = false;  // rates rise by the same amount instead of by the same factor
  double smooth = 0.9;  // weight of the past in the mean of the losses, in [0, 1)
  double diverged = 4;  // ends where the mean is more than so many times its lowest; above 1
};

inline constexpr int64_t kFewestLrSteps = 20;

// kInvalidArgument where a field is outside its range.
Status CheckLrRange(const LrRangeOptions& options);

// The rate of step i, from 0: low * (high / low)^(i / steps), or low + (high - low) * i / steps.
double LrOfStep(const LrRangeOptions& options, int64_t i);

// Losses over the rates they were measured at; all vectors are as long.
struct LrCurve {
  std::vector<double> lr;
  std::vector<double> raw;   // as measured
  std::vector<double> loss;  // the running mean
};

// Builds the curve step by step. One thread at a time.
class LrRangeTest {
 public:
  explicit LrRangeTest(const LrRangeOptions& options) : options_(options), mean_(options.smooth) {}

  // The loss of a step at rate `lr`. False where the test is over: the loss is not finite (it is
  // then left out), or the mean has diverged.
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
  double valley = 0;         // a third or more into the longest stretch in which the loss sinks
  double steepest = 0;       // where it sinks fastest over the logarithm of the rate
  double minimum_tenth = 0;  // a tenth of the rate with the lowest loss
};

// From the curve without its first tenth and its last five points.
//   steepest  argmin over i of (loss[i+1] - loss[i]) / (ln lr[i+1] - ln lr[i])
//   valley    of the longest subsequence of falling losses, n long, which ends at point e (the
//   first
//             such end): the point e - n + floor(n / 3) + floor(n / 6)
// Nothing where fewer than ten points are left, or the loss falls nowhere. Cost: points squared.
std::optional<LrSuggestions> SuggestLr(const LrCurve& curve);

}  // namespace stoker
