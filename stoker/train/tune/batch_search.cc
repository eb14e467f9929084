#include "stoker/train/tune/batch_search.h"

#include <algorithm>
#include <cmath>

namespace stoker {

std::optional<int64_t> BatchSearch::Next() const {
  if (trials_left_ == 0) return std::nullopt;
  if (too_large_) {
    const int64_t between = *too_large_ - fits_;
    if (between <= std::max<int64_t>(1, fits_ / kParts)) return std::nullopt;
    return fits_ + between / 2;
  }
  if (fits_ >= cap_) return std::nullopt;
  return std::min(fits_ == 0 ? kFirst : fits_ * 2, cap_);
}

void BatchSearch::Report(bool fits) {
  const std::optional<int64_t> tried = Next();
  if (!tried) return;
  --trials_left_;
  if (fits) {
    fits_ = *tried;
  } else {
    too_large_ = *tried;
  }
}

std::optional<BatchTrial> SmallestNearPeak(std::span<const BatchTrial> trials, double share) {
  double peak = 0;
  for (const BatchTrial& trial : trials) {
    if (trial.fits) peak = std::max(peak, trial.images_per_s);
  }
  std::optional<BatchTrial> smallest;
  for (const BatchTrial& trial : trials) {
    const bool fast = trial.fits && trial.images_per_s >= share * peak;
    if (fast && (!smallest || trial.batch < smallest->batch)) smallest = trial;
  }
  return smallest;
}

std::optional<uint64_t> PredictedBytes(std::span<const BatchTrial> trials, int64_t batch) {
  const BatchTrial* below = nullptr;
  const BatchTrial* top = nullptr;
  for (const BatchTrial& trial : trials) {
    if (!trial.fits || (top != nullptr && trial.batch == top->batch)) continue;
    if (top == nullptr || trial.batch > top->batch) {
      below = top;
      top = &trial;
    } else if (below == nullptr || trial.batch > below->batch) {
      below = &trial;
    }
  }
  if (below == nullptr) return std::nullopt;
  const auto bytes = [](const BatchTrial& trial) { return static_cast<double>(trial.peak_bytes); };
  const double slope =
      (bytes(*top) - bytes(*below)) / static_cast<double>(top->batch - below->batch);
  const double more = std::max(slope, 0.0) * static_cast<double>(batch - top->batch);
  return static_cast<uint64_t>(std::max(bytes(*top) + more, 0.0));
}

}  // namespace stoker
