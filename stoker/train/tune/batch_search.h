// Decides which batch sizes to try, to find the largest that fits and the smallest that is fast
// enough. Uses no model and no device: the caller tries sizes and reports the results.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace stoker {

// The result of one batch size.
struct BatchTrial {
  int64_t batch = 0;  // samples
  bool fits = false;
  std::string reason;  // why it does not fit
  double images_per_s = 0;
  double step_ms = 0;       // the median of the steps timed
  uint64_t peak_bytes = 0;  // the peak in a step: weights, gradients, optimizer, batch, activations
};

// Doubles until a size does not fit, then halves the interval between the largest that does and the
// smallest that does not, until it is 1/32 of the size or one sample, because further trials would
// not be worth their time. Assumes that all sizes smaller than one that fits, fit too. One thread
// at a time.
class BatchSearch {
 public:
  //   cap     largest size that is tried
  //   trials  the most trials
  explicit BatchSearch(int64_t cap = 8192, int trials = 25) : cap_(cap), trials_left_(trials) {}

  // Returns the size to try next; nothing at the end of the search.
  std::optional<int64_t> Next() const;
  // Reports whether the size from Next fits.
  void Report(bool fits);

  // Returns the largest size that fits; 0 if none does. A size that is larger by 1/32, but at least
  // one sample, does not fit, unless the search ended at its cap or its trials.
  int64_t largest() const { return fits_; }

 private:
  static constexpr int64_t kFirst = 2;
  static constexpr int64_t kParts = 32;  // of a size: the finest step

  const int64_t cap_;
  int trials_left_;
  int64_t fits_ = 0;                  // the largest that fits
  std::optional<int64_t> too_large_;  // the smallest that does not
};

// Returns the smallest fitting size with at least `share` of the highest throughput; nothing if
// none fits.
std::optional<BatchTrial> SmallestNearPeak(std::span<const BatchTrial> trials, double share = 0.95);

// Returns the predicted memory of a batch of `batch` samples, on the line through the two largest
// trials that fit; nothing if there are not two.
std::optional<uint64_t> PredictedBytes(std::span<const BatchTrial> trials, int64_t batch);

}  // namespace stoker
