#include "stoker/image/moments.h"

#include <algorithm>
#include <cmath>

namespace stoker {
namespace {

// The sum of term(x) over the values. Its order is fixed, and such that vectors can compute it.
template <typename Term>
double SumOf(const float* in, size_t n, const Term& term) {
  constexpr size_t kLanes = 8;
  double sums[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] += term(in[i + lane]);
  }
  for (; i < n; ++i) sums[0] += term(in[i]);
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

}  // namespace

Moments MomentsOf(const uint8_t* in, size_t n) {
  if (n == 0) return {};
  // A block's sums fit into 32 bits, which vectors add quickly.
  constexpr size_t kBlock = 1 << 16;
  uint64_t sum = 0, squares = 0;
  for (size_t begin = 0; begin < n; begin += kBlock) {
    uint32_t block_sum = 0, block_squares = 0;
    const size_t end = std::min(n, begin + kBlock);
    for (size_t i = begin; i < end; ++i) {
      const uint32_t value = in[i];
      block_sum += value;
      block_squares += value * value;
    }
    sum += block_sum;
    squares += block_squares;
  }
  // n^2 variance = n * squares - sum^2 in whole numbers: nothing cancels.
  const auto count = static_cast<double>(n);
  const auto spread = static_cast<__uint128_t>(n) * squares - static_cast<__uint128_t>(sum) * sum;
  return {.mean = static_cast<double>(sum) / count,
          .deviation = std::sqrt(static_cast<double>(spread)) / count};
}

Moments MomentsOf(const float* in, size_t n) {
  if (n == 0) return {};
  const auto count = static_cast<double>(n);
  const double mean = SumOf(in, n, [](float x) { return static_cast<double>(x); }) / count;
  const double squares = SumOf(in, n, [mean](float x) {
    const double distance = static_cast<double>(x) - mean;
    return distance * distance;
  });
  return {.mean = mean, .deviation = std::sqrt(squares / count)};
}

}  // namespace stoker
