#include "stoker/train/kernels/norm_ranks.h"

#include <algorithm>

namespace stoker {

std::vector<double> SumsOfMoments(const ChannelMoments& moments, std::span<const float> origin) {
  const size_t channels = origin.size();
  const double n = moments.count;
  std::vector<double> sums(1 + 2 * channels);
  if (n == 0) return sums;
  sums[0] = n;
  for (size_t c = 0; c < channels; ++c) {
    const double distance = moments.mean[c] - double{origin[c]};
    sums[1 + c] = n * distance;
    sums[1 + channels + c] = n * (moments.var[c] + distance * distance);
  }
  return sums;
}

ChannelMoments MomentsOfSums(std::span<const double> sums, std::span<const float> origin) {
  const size_t channels = origin.size();
  ChannelMoments moments{.count = sums[0], .mean = {}, .var = {}};
  moments.mean.resize(channels);
  moments.var.resize(channels);
  if (moments.count == 0) return moments;
  for (size_t c = 0; c < channels; ++c) {
    const double distance = sums[1 + c] / moments.count;
    const double var = sums[1 + channels + c] / moments.count - distance * distance;
    moments.mean[c] = double{origin[c]} + distance;
    moments.var[c] = var < 0 ? 0 : var;  // by rounding; a NaN stays one
  }
  return moments;
}

}  // namespace stoker
