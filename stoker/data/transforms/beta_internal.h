// Draws from the Beta distribution, for mixup and cutmix.
#pragma once

#include "stoker/base/random.h"

namespace stoker {

// A draw from Beta(alpha, alpha), alpha > 0: in [0, 1], with mean 1/2 and variance 1 / (8 alpha +
// 4). As the ratio X / (X + Y) of two Gamma(alpha) draws, which are made by Marsaglia and Tsang's
// method ("A simple method for generating gamma variables", ACM TOMS 2000) and kept as logarithms,
// so that no alpha is too small. The same bits on every CPU.
double DrawSymmetricBeta(Rng& rng, double alpha);

}  // namespace stoker
