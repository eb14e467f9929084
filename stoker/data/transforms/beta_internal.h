// Draws from the Beta distribution, for mixup and cutmix.
#pragma once

#include "stoker/base/random.h"

namespace stoker {

// The smallest alpha: nearly all draws are 0 or 1 already.
inline constexpr double kLeastAlpha = 1e-6;
// The largest alpha: nearly all draws are 1/2 already.
inline constexpr double kMostAlpha = 1e6;

// Draws from Beta(alpha, alpha), alpha >= kLeastAlpha: in [0, 1], with mean 1/2 and variance 1 / (8
// alpha + 4). Computes the ratio X / (X + Y) of two Gamma(alpha) draws, made by Marsaglia and
// Tsang's method ("A simple method for generating gamma variables", ACM TOMS 2000) and kept as
// logarithms: for a small alpha they are smaller than any double. The same bits on every CPU.
double DrawSymmetricBeta(Rng& rng, double alpha);

}  // namespace stoker
