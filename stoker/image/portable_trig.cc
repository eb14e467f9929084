#include "stoker/image/portable_trig.h"

#include <cmath>

namespace stoker {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Taylor's series for |x| <= 1/4, where the first term left out is below 1e-18.
double SinNearZero(double x) {
  const double t = kPi * x, square = t * t;
  double sum = 0;
  for (int n = 17; n >= 3; n -= 2) sum = (1 + sum) * -square / ((n - 1) * n);
  return t + t * sum;
}

double CosNearZero(double x) {
  const double t = kPi * x, square = t * t;
  double sum = 0;
  for (int n = 18; n >= 2; n -= 2) sum = (1 + sum) * -square / ((n - 1) * n);
  return 1 + sum;
}

}  // namespace

double SinPi(double x) {
  const double halves = std::nearbyint(2 * x);
  const double rest = x - halves / 2;  // exact: in [-1/4, 1/4]
  switch (static_cast<long long>(halves) & 3) {
    case 0: return SinNearZero(rest);
    case 1: return CosNearZero(rest);
    case 2: return -SinNearZero(rest);
    default: return -CosNearZero(rest);
  }
}

double CosPi(double x) { return SinPi(x + 0.5); }

}  // namespace stoker
