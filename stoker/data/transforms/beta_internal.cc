#include "stoker/data/transforms/beta_internal.h"

#include <cmath>

#include "stoker/base/portable_math.h"

namespace stoker {
namespace {

// In (0, 1), so that the logarithm exists and is not zero.
double DrawOpenUniform(Rng& rng) {
  return (static_cast<double>(rng.NextU64() >> 12) + 0.5) * 0x1p-52;
}

// The logarithm of a draw from Gamma(shape, 1), shape >= 1.
double DrawLogGammaOfAtLeastOne(Rng& rng, double shape) {
  const double d = shape - 1.0 / 3;
  const double c = 1.0 / std::sqrt(9 * d);
  while (true) {
    const double x = rng.Normal();
    const double root = 1 + c * x;
    const double log_u = PortableLog(DrawOpenUniform(rng));
    if (root <= 0) continue;
    const double log_v = 3 * PortableLog(root);
    const double v = root * root * root;
    if (log_u < 0.5 * x * x + d - d * v + d * log_v) return PortableLog(d) + log_v;
  }
}

// The logarithm of a draw from Gamma(alpha, 1): Gamma(alpha + 1) times U to the 1 / alpha.
double DrawLogGamma(Rng& rng, double alpha) {
  if (alpha >= 1) return DrawLogGammaOfAtLeastOne(rng, alpha);
  const double of_larger = DrawLogGammaOfAtLeastOne(rng, alpha + 1);
  return of_larger + PortableLog(DrawOpenUniform(rng)) / alpha;
}

}  // namespace

double DrawSymmetricBeta(Rng& rng, double alpha) {
  const double log_x = DrawLogGamma(rng, alpha);
  const double log_y = DrawLogGamma(rng, alpha);
  return 1.0 / (1.0 + PortableExp(log_y - log_x));
}

}  // namespace stoker
