// Finds the place of a value among numbers that ascend about evenly.
#pragma once

#include <algorithm>
#include <cstdint>

namespace stoker {

// Returns the place of the last of `count` ascending numbers that is <= value. REQUIRES: at(0) <=
// value. Probes `guess` first, gallops from there, then bisects: if the guess is at most a step
// off, it costs two or three probes, else about twice the logarithm of the distance.
//   at     returns the number at a place, 0 <= place < count
//   guess  0 <= guess < count
template <typename At>
int64_t LastNotAbove(int64_t value, int64_t count, int64_t guess, const At& at) {
  int64_t step = 1;
  int64_t low = guess, high = guess + 1;  // at(low) <= value, and at(high) > value or the end
  for (; at(low) > value; step *= 2) {
    high = low;
    low = std::max<int64_t>(low - step, 0);
  }
  for (; high < count && at(high) <= value; step *= 2) {
    low = high;
    high = std::min(high + step, count);
  }
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (at(middle) <= value ? low : high) = middle;
  }
  return low;
}

}  // namespace stoker
