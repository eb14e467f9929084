// Mean and standard deviation of the values of an image.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoker {

struct Moments {
  double mean = 0;
  double deviation = 0;  // of the population: the root of the mean squared distance from the mean
};

// Returns the moments of n values; zeros if n is 0. Bytes are summed exactly. Floats are summed as
// doubles, in eight parallel sums that are added at the end, twice: for the mean, then for the
// distances from it. The same bits on every CPU.
//   in  n values, aligned to their size
// Threads: concurrent calls are safe. A NaN or an infinity among the floats makes both NaN.
Moments MomentsOf(const uint8_t* in, size_t n);
Moments MomentsOf(const float* in, size_t n);

}  // namespace stoker
