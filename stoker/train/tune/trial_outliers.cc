#include "stoker/train/tune/trial_outliers.h"

#include <algorithm>

namespace stoker {
namespace {

constexpr double kSlow = 0.75;

}  // namespace

std::vector<size_t> SlowOutliers(std::span<const BatchTrial> trials) {
  std::vector<size_t> by_size;
  for (size_t i = 0; i < trials.size(); ++i) {
    if (trials[i].fits) by_size.push_back(i);
  }
  std::ranges::sort(by_size, {}, [&](size_t i) { return trials[i].batch; });
  std::vector<size_t> slow;
  const auto slower = [&](size_t i, size_t than) {
    return trials[by_size[i]].images_per_s < kSlow * trials[by_size[than]].images_per_s;
  };
  for (size_t i = 0; i < by_size.size(); ++i) {
    const bool below = i == 0 || slower(i, i - 1);
    const bool above = i + 1 == by_size.size() || slower(i, i + 1);
    // The smallest is slower by nature.
    if (i > 0 && below && above) slow.push_back(by_size[i]);
  }
  return slow;
}

}  // namespace stoker
