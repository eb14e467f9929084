#include "stoker/base/portable_math.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <numbers>

namespace stoker {

double PortableLog(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  // In [1, 2).
  double mantissa = std::bit_cast<double>((bits & 0x000fffffffffffff) | 0x3ff0000000000000);
  if (mantissa > std::numbers::sqrt2) {
    mantissa *= 0.5;
    exponent += 1;
  }
  const double f = (mantissa - 1.0) / (mantissa + 1.0);  // |f| <= 0.172
  const double square = f * f;
  double sum = 0;  // log m = 2 atanh f = 2 (f + f^3/3 + f^5/5 + ...)
  for (int k = 21; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return exponent * std::numbers::ln2 + 2.0 * f * sum;
}

double PortableExp(double x) {
  constexpr double kLimit = 700;  // e^700 and e^-700 are normal numbers
  if (x > kLimit) return std::numeric_limits<double>::infinity();
  if (x < -kLimit) return 0;
  if (x != x) return x;
  // e^x = 2^n e^r with |r| <= ln 2 / 2; ln 2 in two parts, the first so short that n * it is exact.
  constexpr double kLn2High = 0x1.62e42fee00000p-1;
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  const double scaled = x * std::numbers::log2e;
  const auto n = static_cast<int64_t>(scaled + (scaled < 0 ? -0.5 : 0.5));
  const auto whole = static_cast<double>(n);
  const double r = (x - whole * kLn2High) - whole * kLn2Low;
  double sum = 1;  // Taylor series by Horner's rule
  for (int k = 14; k >= 1; --k) sum = 1.0 + sum * r / k;
  return sum * std::bit_cast<double>(static_cast<uint64_t>(n + 1023) << 52);
}

}  // namespace stoker
