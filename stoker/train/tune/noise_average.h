// The gradient noise scale (McCandlish et al., "An Empirical Model of Large-Batch Training", arXiv
// 1812.06162, appendix A): about the batch size beyond which larger batches gain little.
#pragma once

#include <optional>

#include "stoker/base/json.h"
#include "stoker/base/status.h"
#include "stoker/run/smoothing.h"

namespace stoker {

// A batch of samples and the squared norm of the gradient of their mean loss.
struct GradientNorm {
  double samples = 0;
  double squared = 0;
};

// The estimates from one pair of batches, B > b samples; both are unbiased, so they may be
// negative:
//   |G|^2 = (B |G_B|^2 - b |G_b|^2) / (B - b)         of the true gradient
//   S     = (|G_b|^2 - |G_B|^2) / (1 / b - 1 / B)     the trace of its covariance, sample by sample
struct NoiseEstimate {
  double gradient = 0;
  double noise = 0;
};
NoiseEstimate EstimateNoise(const GradientNorm& small, const GradientNorm& big);

// B_simple = S / |G|^2, with both smoothed separately, because the quotient of single estimates is
// too noisy. One thread at a time.
class NoiseAverage {
 public:
  //   smooth  weight of the past, in [0, 1)
  explicit NoiseAverage(double smooth) : gradient_(smooth), noise_(smooth) {}

  // Adds one pair, unless a norm is not finite; returns scale().
  std::optional<double> Add(const GradientNorm& small, const GradientNorm& big);

  // Returns the scale in samples; nothing if the smoothed |G|^2 or S is not above 0.
  std::optional<double> scale() const;

  // For a checkpoint. Errors of Restore: kDataLoss if `state` is malformed.
  Json Save() const;
  Status Restore(const Json& state);

 private:
  SmoothedValue gradient_, noise_;
};

}  // namespace stoker
